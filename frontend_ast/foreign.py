"""Names that kernels bring along from Triton, CUDA and NumPy, and what is written here instead."""

from __future__ import annotations

from collections.abc import Mapping

_NO_FLOAT8 = "there are no floats of 8 bits; keep them as `mk.u8`, and convert by `mk.bitcast`"
_DIVISION = "write `a / b`: it is rounded to the nearest float"
_HINT = (
    "leave it out, and `mk.multiple_of` around a block too: "
    "here that is a promise for each element, not for the first"
)

_GRID = (
    "each program has a block of elements: `mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)`; "
    "the index of a thread is `mk.tid(0, BLOCK)`"
)
_SHARED = "threadgroup memory is `mk.alloc_tg(size, mk.f32)`"
_ATOMIC = "it is `mk.atomic_{}` here, of an array and an index"

# Of no module: names of CUDA and of modules that are not imported.
OUTER: Mapping[str, str] = {
    "mk": "import it: `from eas import mk`",
    "tl": "the functions of kernels are in `mk`: `from eas import mk`",
    "triton": "the functions of kernels are in `mk`: `from eas import mk`",
    "cuda": _GRID,
    "threadIdx": _GRID,
    "blockIdx": "the number of the program is `mk.program_id(0)`",
    "blockDim": "it is a parameter here: `BLOCK: eas.constexpr`",
    "gridDim": "the number of programs is `mk.num_programs(0)`",
    "__syncthreads": "it is `mk.barrier` here",
    "syncthreads": "it is `mk.barrier` here",
    **{f"atomic{name}": _ATOMIC.format(name.lower()) for name in ("Add", "Min", "Max")},
    "self": "a kernel is a plain function: what it needs are its arguments",
}

# Of the module `mk`.
NAMES: Mapping[str, str] = {
    "int1": "it is `mk.bool` here",
    **dict.fromkeys(("float8e4nv", "float8e4b8", "float8e4b15", "float8e5"), _NO_FLOAT8),
    "constexpr": "it is `eas.constexpr` here; a variable needs no such annotation",
    "jit": "it is `@eas.kernel`; a function that a kernel calls needs no decorator",
    "tensor": "it is `mk.Value` here, if an annotation is wanted at all",
    "range": "write Python's `range`, without hints such as `num_stages`",
    "math": "its functions are in `mk` itself: `mk.exp2(x)`",
    "device_print": 'write Python\'s `print("x", x)`',
    "device_assert": 'write Python\'s `assert condition, "text"`',
    "debug_barrier": "leave it out: blocks need no barrier; between threads it is `mk.barrier()`",
    "max_contiguous": _HINT,
    "max_constancy": _HINT,
    "view": "it is `mk.reshape` here",
    "broadcast": "blocks broadcast as in NumPy; to give one a shape there is `mk.broadcast_to`",
    "fdiv": _DIVISION,
    "div_rn": _DIVISION,
    "sqrt_rn": "it is `mk.sqrt` here",
    "interleave": "join and reshape: `mk.reshape(mk.join(a, b), (2 * n,))`",
    "softmax": "write it: `e = mk.exp(x - mk.max(x)); e / mk.sum(e)`",
    "sort": "write a sorting network with `mk.minimum` and `mk.maximum`",
    "topk": "find the greatest k times, by `mk.argmax`",
    "gather": "load them where they come from: `mk.load(a, index)`",
    "histogram": "use `mk.atomic_add` on an array of counts",
    "reduce_or": "use `mk.reduce(x, axis, lambda a, b: a | b)`",
    "make_tensor_descriptor": "make a block pointer: `mk.make_block_ptr(...)`",
    "make_tensor_desc": "make a block pointer: `mk.make_block_ptr(...)`",
    "inline_asm_elementwise": "there is no assembly here; write it in Python",
    "dot_scaled": "convert and scale the factors, then use `mk.dot`",
    "mean": "divide the sum: `mk.sum(x) / n`",
    "average": "divide the sum: `mk.sum(x) / n`",
    "var": "write it: `d = x - mk.sum(x) / n; mk.sum(d * d) / n`",
    "std": "write it: `d = x - mk.sum(x) / n; mk.sqrt(mk.sum(d * d) / n)`",
    "relu": "write it: `mk.maximum(x, 0.0)`",
    "gelu": "write it: `0.5 * x * (1.0 + mk.erf(x * 0.70710678))`",
    "silu": "write it: `x * mk.sigmoid(x)`",
    "hypot": "write it: `mk.sqrt(x * x + y * y)`",
    "lerp": "write it: `a + (b - a) * t`",
    "clip": "it is `mk.clamp(x, low, high)` here",
    "matmul": "it is `mk.dot` here",
    "power": "it is `mk.pow` here",
    "shared": _SHARED,
    "shared_memory": _SHARED,
    "syncthreads": "it is `mk.barrier` here",
    "sync_threads": "it is `mk.barrier` here",
    "grid": _GRID,
    "thread_id": "it is `mk.tid` here",
    "block_id": "it is `mk.program_id` here",
    "float": "the dtype is `mk.f32`; to convert, write `float(x)` or `x.to(mk.f32)`",
    "half": "the dtype is `mk.f16`; to convert, write `x.to(mk.f16)`",
    "int": "the dtype is `mk.i32`; to convert, write `int(x)` or `x.to(mk.i32)`",
    "swizzle2d": "compute both numbers from `mk.program_id(0)`, with `//` and `%`",
}

_ELEMENTS = "leave it out: an array's `dtype` is that of its elements"
_COMPARED = "compare it: `x.dtype == mk.f16`"

# Of dtypes.
OF_DTYPES: Mapping[str, str] = {
    "element_ty": _ELEMENTS,
    "scalar": _ELEMENTS,
    **dict.fromkeys(("is_fp16", "is_fp32", "is_fp64", "is_bf16", "is_int8"), _COMPARED),
    "is_floating": "it is `is_float` here, without parentheses",
    "primitive_bitwidth": "it is `bits` here",
}

_RELAXED = "leave it out: atomics order nothing else; within a threadgroup `mk.barrier()` does"

# Of the functions of `mk`.
PARAMETERS: Mapping[str, str] = {
    "padding_option": "it is `padding` here",
    "volatile": "leave it out; to see what other programs write, use atomics",
    "sem": _RELAXED,
    "scope": _RELAXED,
    "val": "it is `value` here",
    "cmp": "it is `expected` here",
    "pointer": "it is `ptr` here",
    "allow_tf32": "leave it out: `mk.dot` never rounds f32 factors",
    "out_dtype": "leave it out: the sum is f32; convert it by `.to(...)`",
    "max_num_imprecise_acc": "leave it out: the sum is f32",
    "return_indices": "take both by a function: `mk.reduce((x, i), axis, fn)`, or use `mk.argmax`",
    "return_indices_tie_break_left": "use `mk.argmax`, which gives the first",
    "tie_break_left": "leave it out: the first of equal elements is found",
    "propagate_nan": "leave it out, and treat NaNs by `mk.isnan`: a number wins over them",
    "can_reorder": "leave it out: elements keep their order",
    "combine_fn": "it is `fn` here",
    "input": "it is `a` here",
    "bitcast": "it is a function here: `mk.bitcast(x, dtype)`",
    "fp_downcast_rounding": "leave it out: it is rounded to the nearest, halves to even",
    "num_stages": "leave it out: the compiler decides what it loads ahead",
    "n_rounds": "leave it out: there are 10",
    "dim": "it is `axis` here",
    "dims": "it is `axes` here",
    "min": "it is `low` here",
    "max": "it is `high` here",
}

_LOCAL = "a small array for each lane is `mk.local(4, mk.f32)`, a block of zeros `mk.zeros`"

# Of NumPy's functions that make arrays of numbers. They are never called: an array may be huge.
MAKERS: Mapping[str, str] = {
    "arange": "use the function of kernels: `mk.arange(0, BLOCK)`",
    "zeros": _LOCAL,
    "empty": _LOCAL,
    "ones": "use `mk.full(shape, 1, dtype)`",
    "full": "use the function of kernels: `mk.full(shape, value, dtype)`",
    "array": "use a tuple: `(1, 2, 3)`",
    "asarray": "use a tuple: `(1, 2, 3)`",
    "linspace": "compute it: `start + mk.arange(0, n) * step`",
    "eye": "compare indices: `mk.arange(0, n)[:, None] == mk.arange(0, n)[None, :]`",
    "identity": "compare indices: `mk.arange(0, n)[:, None] == mk.arange(0, n)[None, :]`",
}

# Of NumPy's functions whose name is another one in `mk`.
RENAMED: Mapping[str, str] = {
    "absolute": "abs",
    "fabs": "abs",
    "clip": "clamp",
    "matmul": "dot",
    "power": "pow",
    "arctan2": "atan2",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "amax": "max",
    "amin": "min",
    "fmax": "maximum",
    "fmin": "minimum",
    "rint": "round",
    "around": "round",
    "transpose": "trans",
}

_OPERATORS = {
    "+": ("add",),
    "-": ("subtract",),
    "*": ("multiply",),
    "/": ("divide", "true_divide"),
    "//": ("floor_divide",),
    "%": ("remainder", "mod"),
    "==": ("equal",),
    "!=": ("not_equal",),
    "<": ("less",),
    "<=": ("less_equal",),
    ">": ("greater",),
    ">=": ("greater_equal",),
    "&": ("logical_and", "bitwise_and"),
    "|": ("logical_or", "bitwise_or"),
    "^": ("logical_xor", "bitwise_xor"),
    "<<": ("left_shift", "bitwise_left_shift"),
    ">>": ("right_shift", "bitwise_right_shift"),
}
_PARTS = "store the parts one after the other, or use `mk.join`"

# Of NumPy's functions that are written otherwise here.
NUMPY: Mapping[str, str] = {
    **MAKERS,
    **{
        name: f"write the operator: `a {symbol} b`"
        for symbol, names in _OPERATORS.items()
        for name in names
    },
    "negative": "write the operator: `-a`",
    "logical_not": "write the operator: `~a`",
    "invert": "write the operator: `~a`",
    "bitwise_not": "write the operator: `~a`",
    "square": "write it: `x * x`",
    "reciprocal": "write it: `1.0 / x`",
    "radians": "write it: `x * (math.pi / 180.0)`",
    "deg2rad": "write it: `x * (math.pi / 180.0)`",
    "degrees": "write it: `x * (180.0 / math.pi)`",
    "rad2deg": "write it: `x * (180.0 / math.pi)`",
    "outer": "write it: `a[:, None] * b[None, :]`",
    "isclose": "compare it: `mk.abs(a - b) <= 1e-6`",
    "allclose": "compare it: `mk.all(mk.abs(a - b) <= 1e-6)`",
    "nan_to_num": "write it: `mk.where(mk.isnan(x), 0.0, x)`",
    "count_nonzero": "write it: `mk.sum((x != 0).to(mk.i32))`",
    "concatenate": _PARTS,
    "hstack": _PARTS,
    "stack": _PARTS,
    "average": "divide the sum: `mk.sum(x) / n`",
    "mean": "divide the sum: `mk.sum(x) / n`",
    "var": "write it: `d = x - mk.sum(x) / n; mk.sum(d * d) / n`",
    "std": "write it: `d = x - mk.sum(x) / n; mk.sqrt(mk.sum(d * d) / n)`",
    "sort": "write a sorting network with `mk.minimum` and `mk.maximum`",
    "hypot": "write it: `mk.sqrt(x * x + y * y)`",
}

_UNIFORM = "use the function of kernels: `mk.rand(seed, offset)`"
_NORMAL = "use the function of kernels: `mk.randn(seed, offset)`"
_INTEGERS = "use the function of kernels: `mk.randint(seed, offset)`"

# Of the random numbers of Python and NumPy, which have a state.
RANDOMS: Mapping[str, str] = {
    **dict.fromkeys(("rand", "random", "random_sample", "uniform"), _UNIFORM),
    **dict.fromkeys(("randn", "normal", "standard_normal", "gauss", "normalvariate"), _NORMAL),
    **dict.fromkeys(("randint", "integers", "randrange", "getrandbits"), _INTEGERS),
}
