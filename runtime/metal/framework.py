"""The modules of pyobjc, and a workaround for its reference counts."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, TypeVar

from eas.runtime.metal.errors import MetalError
from eas.runtime.metal.objects import Foundation, Metal, ObjC, Object
from eas.support.records import frozen

Made = TypeVar("Made", bound=Object)


@frozen
class Framework:
    """The modules that Metal is used through."""

    metal: Metal
    foundation: Foundation
    objc: ObjC

    def constant(self, name: str) -> int:
        """A constant by its name; -1, which none has, if this pyobjc is too old to have it."""
        return getattr(self.metal, name, -1)


def load_framework() -> Framework:
    """Imports pyobjc; raises `MetalError` if it is not installed."""
    try:
        modules: list[Any] = [import_module(name) for name in ("Metal", "Foundation", "objc")]
    except ImportError as error:
        if sys.platform != "darwin":
            raise MetalError(f"Metal needs a Mac, and this is `{sys.platform}`") from None
        raise MetalError(
            f"Metal is reached through pyobjc, and that cannot be imported ({error}): "
            "`pip install pyobjc-framework-Metal`"
        ) from error
    return Framework(*modules)


def own(made: Made | None, selector: Any) -> Made | None:
    """An object that a `new...` method has created, without the reference that pyobjc leaks.

    Such a method returns an owned reference. Before version 13, pyobjc knows that rule for class
    methods only (https://github.com/ronaldoussoren/pyobjc/issues/690): it retains the object again
    and never releases the first reference, so the object leaks. A pyobjc that knows the rule says
    so in the metadata of the method, here `selector`.
    """
    knows: bool = selector.__metadata__()["retval"].get("already_retained", False)
    if made is not None and not knows and made.retainCount() > 1:
        made.release()
    return made
