"""Binding of arguments, grids, and what runs kernels.

`get_runtime` is the way that the first easy_as had to run compiled kernels, see
`eas.compiled_launches`. It is imported when it is asked for: it stands above this package.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eas.compiled_launches import Runtime, get_runtime

__all__ = ["Runtime", "get_runtime"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'eas.runtime' has no attribute {name!r}")
    from eas import compiled_launches

    return getattr(compiled_launches, name)
