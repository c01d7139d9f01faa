"""Typed IR to Metal Shading Language: layouts, spelling, names, text."""

from eas.msl.errors import UnsupportedError
from eas.msl.kernel import Buffer, Field, MslKernel, write
from eas.msl.sites import Site

__all__ = ["Buffer", "Field", "MslKernel", "Site", "UnsupportedError", "write"]
