"""Typed IR to Metal Shading Language: layouts, spelling, names, text."""

from eas.ir.reports import Site
from eas.msl.errors import UnsupportedError
from eas.msl.kernel import Buffer, Field, MslKernel, write

__all__ = ["Buffer", "Field", "MslKernel", "Site", "UnsupportedError", "write"]
