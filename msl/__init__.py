"""Typed IR to Metal Shading Language: layout, schedule, lowering, text."""

from eas.ir.reports import Site
from eas.msl.kernel import Buffer, Field, MslKernel, choose_budget, write
from eas.msl.ops.errors import UnsupportedError

__all__ = ["Buffer", "Field", "MslKernel", "Site", "UnsupportedError", "choose_budget", "write"]
