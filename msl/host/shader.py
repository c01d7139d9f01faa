"""Metal texts of one's own: `load` compiles one, and its kernels are called like functions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np

from eas.msl.arrays import Array, Bound, Extents
from eas.msl.host.build import CHECKED, Library
from eas.msl.host.dispatch import ORDERS, Dispatch
from eas.msl.host.errors import HostError
from eas.msl.host.kernel_signatures import Parameter, Signature
from eas.msl.host.translate import Constants
from eas.msl.host.worker_client import Host, default_checked_host, default_host
from eas.support.records import field, frozen

MOST_SHARED_BYTES = 32768
Extent = int | Sequence[int]

_DTYPES: dict[str, Any] = {
    "bool": np.bool_, "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
    "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64,
    "half": np.float16, "float": np.float32, "bfloat": ml_dtypes.bfloat16,
    "int8_t": np.int8, "uint8_t": np.uint8, "int16_t": np.int16, "uint16_t": np.uint16,
    "int32_t": np.int32, "uint32_t": np.uint32, "int64_t": np.int64, "uint64_t": np.uint64,
    "size_t": np.uint64,
}  # fmt: skip


def load(text: str, *, constants: Constants | None = None, host: Host | None = None) -> Shader:
    """Compiles a Metal text; `constants` are values for its function constants, by name.

    Raises `MslError` with what clang says if it is no Metal.
    """
    host = host or default_host()
    values = dict(constants or {})
    library = host.builder.build([text], CHECKED if host.is_checked else (), values)
    return Shader(text, values, host, library)


@frozen(eq=False)
class Shader:
    """A compiled text: `shader.name` and `shader["name"]` are its kernels."""

    text: str
    constants: dict[str, bool | int | float]
    host: Host
    library: Library

    @property
    def kernels(self) -> dict[str, Kernel]:
        """All kernels, by name."""
        return {each.name: Kernel(self, each) for each in self.library.units[0].kernels}

    def __getitem__(self, name: str) -> Kernel:
        if name not in self.kernels:
            known = ", ".join(f"`{each}`" for each in self.kernels) or "none"
            raise KeyError(f"the text has no kernel `{name}`; it has {known}")
        return self.kernels[name]

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__") or name == "library":  # of a copy that is not made yet
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None


@frozen(eq=False)
class Kernel:
    """A kernel of a shader, to be called with its buffers."""

    shader: Shader
    signature: Signature

    def __call__(
        self,
        *buffers: Any,
        threads: Extent | None = None,
        groups: Extent | None = None,
        per_group: Extent = 1,
        shared: Mapping[int, int] | None = None,
        order: str = "forward",
        check: bool = False,
        **named: Any,
    ) -> None:
        """Runs so many `threads` in all, or `groups`, with `per_group` threads in each group.

        Buffers come in the order of their indices, or by name. NumPy arrays are written to in
        place; numbers, and arrays of structs, do for references. `shared` has the bytes of each
        threadgroup buffer. With `check` all accesses are watched, in every order of threads, and
        the first bug raises `KernelFault`.
        """
        launch = _Launch(self.signature, threads, groups, per_group, dict(shared or {}))
        bound = [*self._bind(buffers, named)]
        if check:
            checked = load(
                self.shader.text, constants=self.shader.constants, host=default_checked_host()
            )
            for each in ORDERS:
                launch.run(checked, bound, each, writes_back=False)
        launch.run(self.shader, bound, order, writes_back=True)

    def _bind(self, buffers: Sequence[Any], named: Mapping[str, Any]) -> Iterator[Bound]:
        wanted = [p for p in self.signature.parameters if p.attribute.startswith("buffer(")]
        wanted.sort(key=lambda parameter: parameter.index)
        given = dict(zip((p.name for p in wanted), buffers, strict=False)) | dict(named)
        names = ", ".join(p.name for p in wanted)
        if len(buffers) > len(wanted) or {*given} != {p.name for p in wanted}:
            raise self._error(f"its buffers are {names or 'none'}")
        for parameter in wanted:
            flat = _flat(given[parameter.name], parameter, self.signature.name)
            yield Bound(parameter.index, flat, 0, parameter.name, _is_read_only(parameter.type))

    def _error(self, message: str) -> HostError:
        return HostError(message, self.signature.name)


@frozen
class _Launch:
    """The extents of a launch, refused where Metal would refuse them."""

    signature: Signature
    threads: Extent | None
    groups: Extent | None
    per_group: Extent
    shared: dict[int, int] = field(default_factory=dict[int, int])

    def run(self, shader: Shader, bound: list[Bound], order: str, *, writes_back: bool) -> None:
        per_group, groups, grid = self._extents()
        if 0 in groups:
            return
        dispatch = Dispatch(
            shader.host, shader.library, self.signature.name, bound, per_group, groups,
            shared=self.shared, order=order, grid=grid,
        )  # fmt: skip
        with shader.host.exclusive():
            dispatch.run()
            if writes_back:
                dispatch.write_back(*(each.index for each in bound if not each.is_constant))

    def _extents(self) -> tuple[Extents, Extents, Extents]:
        per_group = self._extent(self.per_group, "per_group")
        if (self.threads is None) == (self.groups is None):
            raise self._error("it needs either `threads` or `groups`")
        if not 0 < math.prod(per_group) <= self.signature.limit:
            message = f"a threadgroup has 1 to {self.signature.limit} threads, not {per_group}"
            raise self._error(message)
        self._refuse_memory()
        if self.threads is None:
            groups = self._extent(self.groups, "groups")
            return per_group, groups, _each(lambda a, b: a * b, per_group, groups)
        grid = self._extent(self.threads, "threads")
        return per_group, _each(lambda a, b: -(-a // b), grid, per_group), grid

    def _refuse_memory(self) -> None:
        parameters = self.signature.parameters
        wanted = [p.index for p in parameters if p.attribute.startswith("threadgroup(")]
        if set(wanted) != set(self.shared):
            message = f"`shared` must give the bytes of the threadgroup buffers {sorted(wanted)}"
            raise self._error(message)
        sizes = self.shared.values()
        if sum(sizes) > MOST_SHARED_BYTES or min(sizes, default=1) < 1:
            raise self._error(f"threadgroup buffers have 1 to {MOST_SHARED_BYTES} bytes in all")

    def _extent(self, extent: Any, name: str) -> Extents:
        axes: tuple[Any, ...] = tuple(np.atleast_1d(np.asarray(extent)).tolist())
        if not 1 <= len(axes) <= 3 or any(type(a) is not int or not 0 <= a < 1 << 32 for a in axes):
            raise self._error(f"`{name}` is one to three numbers from 0 to 2**32 - 1, not {extent}")
        x, y, z = (*axes, 1, 1)[:3]
        return x, y, z

    def _error(self, message: str) -> HostError:
        return HostError(message, self.signature.name)


def _each(f: Callable[[int, int], int], a: Extents, b: Extents) -> Extents:
    return f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])


def _flat(value: Any, parameter: Parameter, kernel: str) -> Array:
    """The elements of an argument, one behind the other: those of an array are its own."""
    dtype = _dtype_of(parameter.type)
    name = f"its argument `{parameter.name}`"
    if isinstance(value, bytes):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, np.ndarray):
        return _flat_array(cast("Array", value), dtype, parameter, kernel)
    if dtype is None and not isinstance(value, np.generic):
        raise HostError(f"{name} is a `{parameter.type}`, which needs an array of structs", kernel)
    try:
        made: Array = np.atleast_1d(np.asarray(cast("Any", value), dtype))
    except (TypeError, ValueError, OverflowError) as error:
        raise HostError(f"{name} is no `{parameter.type}`: {error}", kernel) from None
    return made


def _flat_array(value: Array, dtype: Any, parameter: Parameter, kernel: str) -> Array:
    problem = ""
    if dtype is not None and value.dtype not in (dtype, np.dtype(np.uint8)):
        problem = f"is a buffer of {np.dtype(dtype)}, not of {value.dtype}"
    elif not value.flags.c_contiguous:
        problem = "must be contiguous"
    elif not _is_read_only(parameter.type) and not value.flags.writeable:
        problem = "is written to, but read-only"
    if problem:
        raise HostError(f"its argument `{parameter.name}` {problem}", kernel)
    flat = value.reshape(-1)
    return flat if flat.dtype.names is None else flat.view(np.uint8)


def _is_read_only(ty: str) -> bool:
    """Whether a kernel can only read what a pointer or reference leads to."""
    pointed_at = re.split(r"[*&]", ty)[0]
    return bool({"constant", "const"} & set(pointed_at.split()))


def _dtype_of(ty: str) -> Any:
    """What the elements of `device const float4 *` are in NumPy; none for structs."""
    words = [word for word in re.findall(r"\w+", ty) if word not in _QUALIFIERS]
    match = (
        re.fullmatch(r"(?:packed_|atomic_)?([a-z]+(?:\d+_t)?)[234]?", words[0]) if words else None
    )
    return _DTYPES.get(match[1]) if match else None


_QUALIFIERS = frozenset({
    "device", "constant", "const", "volatile", "metal", "vec", "packed_vec", "atomic",
})  # fmt: skip
