"""Writes the text of LLVM functions: values with types, blocks, variables.

Every method takes scalars and vectors: the types of the operands decide.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from eas.support.records import field, frozen, record

Number = bool | int | float

_MOST_ON_STACK = 1 << 15  # bytes of one block
_WIDTHS = {"half": 16, "float": 32, "double": 64, "ptr": 64}


@frozen
class V:
    """A value of LLVM: its type and its text. `known` is set for constants."""

    ty: str
    text: str
    known: Number | None = None

    @property
    def element(self) -> str:
        return element_of(self.ty)

    @property
    def lanes(self) -> int:
        """How many lanes a vector has; 0 for a scalar."""
        return int(self.ty[1:].split(" ", 1)[0]) if self.ty[0] == "<" else 0

    def __str__(self) -> str:
        return f"{self.ty} {self.text}"


def element_of(ty: str) -> str:
    return ty[1:-1].split(" x ", 1)[1] if ty[0] == "<" else ty


def vector(element: str, lanes: int) -> str:
    return f"<{lanes} x {element}>" if lanes else element


def like(v: V, element: str) -> str:
    """The type with as many lanes as a value's, of another element type."""
    return vector(element, v.lanes)


def is_float(ty: str) -> bool:
    return element_of(ty) in ("float", "double", "half", "bfloat")


def bits_of(ty: str) -> int:
    element = element_of(ty)
    return _WIDTHS[element] if element in _WIDTHS else int(element[1:])


def const(ty: str, value: Number) -> V:
    """A constant; a vector has it in every lane."""
    element = element_of(ty)
    text = _literal(element, value)
    if ty[0] == "<":
        text = f"splat ({element} {text})"
    return V(ty, text, value)


def _literal(element: str, value: Number) -> str:
    if element == "i1":
        return "true" if value else "false"
    if element in ("float", "double"):
        if element == "float":
            value = struct.unpack("f", struct.pack("f", _to_single(float(value))))[0]
        return f"0x{struct.unpack('>Q', struct.pack('>d', float(value)))[0]:016X}"
    bits = int(element[1:])
    wrapped = (int(value) + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    return str(wrapped)


def _to_single(value: float) -> float:
    try:
        struct.pack("f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


@frozen
class Variable:
    """A stack slot, which LLVM promotes to registers. `memory_ty` is its type in memory."""

    pointer: V
    ty: str
    memory_ty: str


# Instructions that may give another result when they are repeated.
_NOT_PURE = ("load ", "call ", "atomicrmw ", "cmpxchg ", "phi ")


@record
class Emitter:
    """The text of one function, and the declarations that it needs.

    `scratch` is the size of the memory behind `%scratch` in bytes. `has_avx512` says that the
    machine has AVX-512, `has_avx2` that it has AVX2 but not AVX-512.
    """

    declared: dict[str, str] = field(default_factory=dict[str, str])
    fast: str = ""
    has_avx512: bool = False
    has_avx2: bool = False
    scratch: int = 0
    _entry: list[str] = field(default_factory=list[str])
    _lines: list[str] = field(default_factory=list[str])
    _count: int = 0
    _is_open: bool = True
    _computed: dict[str, V] = field(default_factory=dict[str, V])
    _splats: dict[str, V] = field(default_factory=dict[str, V])
    _vector_copies: dict[tuple[str, int], V] = field(default_factory=dict[tuple[str, int], V])
    _sums: dict[str, tuple[V, V]] = field(default_factory=dict[str, tuple[V, V]])
    _integer_masks: dict[str, V] = field(default_factory=dict[str, V])
    _mask_ops: dict[str, tuple[str, V, V]] = field(default_factory=dict[str, tuple[str, V, V]])

    @property
    def body(self) -> str:
        return "\n".join(["entry:", *self._entry, "  br label %start", "start:", *self._lines])

    def label(self, hint: str = "b") -> str:
        self._count += 1
        return f"{hint}{self._count}"

    def begin(self, label: str) -> None:
        """Starts a basic block. The block before falls through to it, unless it has ended."""
        if self._is_open:
            self.jump(label)
        self._lines.append(f"{label}:")
        self._is_open = True
        self._computed.clear()

    def jump(self, label: str) -> None:
        self._end(f"br label %{label}")

    def branch(self, condition: V, then: str, orelse: str, is_unlikely: bool = False) -> None:
        odds = ", !prof !1" if is_unlikely else ""
        self._end(f"br i1 {condition.text}, label %{then}, label %{orelse}{odds}")

    def leave(self) -> None:
        self._end("ret void")

    def _end(self, line: str) -> None:
        if self._is_open:
            self._lines.append(f"  {line}")
        self._is_open = False

    def when(self, condition: V, then: Callable[[], None], is_unlikely: bool = False) -> None:
        """Writes code that runs only if a condition holds."""
        if condition.known is not None:
            if condition.known:
                then()
            return
        inside, after = self.label("then"), self.label("after")
        self.branch(condition, inside, after, is_unlikely)
        self.begin(inside)
        then()
        self.jump(after)
        self.begin(after)

    def for_range(self, start: V, stop: V, step: int, body: Callable[[V], None]) -> None:
        """A loop from start to stop, both of one integer type."""
        counter = self.variable(start.ty)
        self.set(counter, start)
        head, inside, after = self.label("head"), self.label("loop"), self.label("after")
        self.begin(head)
        now = self.get(counter)
        self.branch(self.icmp("slt", now, stop), inside, after)
        self.begin(inside)
        body(now)
        self.set(counter, self.binary("add nsw", now, const(now.ty, step)))
        self.jump(head)
        self.begin(after)

    def line(self, text: str) -> None:
        """Writes an instruction; after the end of a block it is unreachable and dropped."""
        if self._is_open:
            self._lines.append(f"  {text}")

    def value(self, ty: str, text: str) -> V:
        """The result of an instruction. A pure one is reused within its basic block."""
        if not self._is_open:
            return V(ty, "poison")
        if text in self._computed:
            return self._computed[text]
        self._count += 1
        made = V(ty, f"%v{self._count}")
        self.line(f"{made.text} = {text}")
        if not text.startswith(_NOT_PURE):
            self._computed[text] = made
        return made

    def alloca(self, ty: str, count: int = 1, align: int = 64) -> V:
        self._count += 1
        name = f"%p{self._count}"
        what = ty if count == 1 else f"[{count} x {ty}]"
        self._entry.append(f"  {name} = alloca {what}, align {align}")
        return V("ptr", name)

    def memory(self, ty: str, count: int) -> V:
        """Memory for a block: on the stack, or for a large one in the scratch memory."""
        is_small = _size(ty, count) <= _MOST_ON_STACK
        return self.alloca(ty, count) if is_small else self.heap(ty, count)

    def heap(self, ty: str, count: int) -> V:
        """Scratch memory, which the entry allocates once for all of its programs."""
        self._count += 1
        name = f"%p{self._count}"
        self._entry.append(f"  {name} = getelementptr i8, ptr %scratch, i64 {self.scratch}")
        self.scratch += -(-_size(ty, count) // 64) * 64
        return V("ptr", name)

    def entry_value(self, text: str, ty: str) -> V:
        """A value that is computed at the start of the function."""
        self._count += 1
        self._entry.append(f"  %v{self._count} = {text}")
        return V(ty, f"%v{self._count}")

    def entry_line(self, text: str) -> None:
        """A line at the start of the function."""
        self._entry.append(f"  {text}")

    def variable(self, ty: str) -> Variable:
        # without AVX-512 a vector of i1 is expensive to store; blends take vectors of i32 as masks
        has_bits = self.has_avx512  # which has mask registers
        memory_ty = ty if has_bits or ty[0] != "<" else ty.replace(" i1>", " i32>")
        return Variable(self.alloca(memory_ty, align=32), ty, memory_ty)

    def get(self, variable: Variable) -> V:
        loaded = self.load(variable.memory_ty, variable.pointer)
        if variable.memory_ty == variable.ty:
            return loaded
        bits = self.icmp("slt", loaded, const(loaded.ty, 0))
        self._integer_masks[bits.text] = loaded
        return bits

    def set(self, variable: Variable, v: V) -> None:
        is_same = variable.memory_ty == variable.ty
        self.store(v if is_same else self._integer_mask(v), variable.pointer)

    def _integer_mask(self, bits: V) -> V:
        """A vector of i1 as one of i32, computed from i32 vectors so that LLVM needs no i1."""
        if bits.text in self._integer_masks:
            return self._integer_masks[bits.text]
        if bits.text in self._mask_ops:
            op, a, b = self._mask_ops[bits.text]
            return self.binary(op, self._integer_mask(a), self._integer_mask(b))
        return self.cast("sext", bits, "i32")

    def binary(self, op: str, a: V, b: V) -> V:
        return self.value(a.ty, f"{op} {a.ty} {a.text}, {b.text}")

    def add(self, a: V, b: V) -> V:
        if isinstance(a.known, int) and isinstance(b.known, int):
            return const(a.ty, a.known + b.known)
        if b.known == 0:
            return a
        if a.known == 0:
            return b
        made = self.binary("add", a, b)
        self._sums[made.text] = (a, b)
        return made

    def sub(self, a: V, b: V) -> V:
        return a if b.known == 0 else self.binary("sub", a, b)

    def mul(self, a: V, b: V) -> V:
        if isinstance(a.known, int) and isinstance(b.known, int):
            return const(a.ty, a.known * b.known)
        if b.known == 1:
            return a
        return b if a.known == 1 else self.binary("mul", a, b)

    def fadd(self, a: V, b: V) -> V:
        return self.binary("fadd", a, b)

    def fsub(self, a: V, b: V) -> V:
        return self.binary("fsub", a, b)

    def fmul(self, a: V, b: V) -> V:
        return self.binary("fmul", a, b)

    def fdiv(self, a: V, b: V) -> V:
        return self.binary("fdiv", a, b)

    def fneg(self, a: V) -> V:
        return self.value(a.ty, f"fneg {a}")

    def and_(self, a: V, b: V) -> V:
        """`and`, of bits or bools."""
        if a.element == "i1" and a.known is not None:
            return b if a.known else a
        if b.element == "i1" and b.known is not None:
            return a if b.known else b
        return self._bitwise("and", a, b)

    def or_(self, a: V, b: V) -> V:
        if a.element == "i1" and a.known is not None:
            return a if a.known else b
        if b.element == "i1" and b.known is not None:
            return b if b.known else a
        return self._bitwise("or", a, b)

    def _bitwise(self, op: str, a: V, b: V) -> V:
        made = self.binary(op, a, b)
        if made.lanes and made.element == "i1":
            self._mask_ops[made.text] = (op, a, b)
        return made

    def xor(self, a: V, b: V) -> V:
        return self.binary("xor", a, b)

    def not_(self, a: V) -> V:
        if a.element == "i1" and a.known is not None:
            return const(a.ty, not a.known)
        return self.binary("xor", a, const(a.ty, -1 if a.element != "i1" else True))

    def icmp(self, how: str, a: V, b: V) -> V:
        return self.value(like(a, "i1"), f"icmp {how} {a}, {b.text}")

    def fcmp(self, how: str, a: V, b: V) -> V:
        return self.value(like(a, "i1"), f"fcmp {how} {a}, {b.text}")

    def select(self, condition: V, a: V, b: V) -> V:
        if condition.known is not None:
            return a if condition.known else b
        return a if a == b else self.value(a.ty, f"select {condition}, {a}, {b}")

    def cast(self, how: str, a: V, element: str) -> V:
        ty = like(a, element)
        return a if a.ty == ty else self.value(ty, f"{how} {a} to {ty}")

    def bitcast(self, a: V, ty: str) -> V:
        return a if a.ty == ty else self.value(ty, f"bitcast {a} to {ty}")

    def opaque(self, mask: V) -> V:
        """A mask that is opaque to LLVM: it passes through an empty inline assembly."""
        bits = self.cast("zext", self.bitcast(mask, f"i{mask.lanes}"), "i64")
        same = self.value("i64", f'call i64 asm "", "=r,0"({bits})')
        return self.bitcast(self.cast("trunc", same, f"i{mask.lanes}"), mask.ty)

    def bits(self, a: V) -> V:
        """The bits of floats as integers of their width."""
        return self.bitcast(a, like(a, f"i{bits_of(a.ty)}"))

    def floats(self, a: V) -> V:
        """Integers as the floats with these bits."""
        return self.bitcast(a, like(a, {32: "float", 64: "double", 16: "half"}[bits_of(a.ty)]))

    def call(self, name: str, ty: str, *arguments: V) -> V:
        return self.value(ty, self._called(name, ty, arguments))

    def call_void(self, name: str, *arguments: V) -> None:
        self.line(self._called(name, "void", arguments))

    def _called(self, name: str, ty: str, arguments: Sequence[V]) -> str:
        types = ", ".join(a.ty for a in arguments)
        self.declared[name] = f"declare {ty} @{name}({types})"
        return f"call {ty} @{name}({', '.join(map(str, arguments))})"

    def intrinsic(self, name: str, a: V, *more: V) -> V:
        """An intrinsic whose operands and result have one type."""
        return self.call(f"llvm.{name}.{mangled(a.ty)}", a.ty, a, *more)

    def sqrt(self, a: V) -> V:
        """The square root, with the user's fast-math flags."""
        name = f"llvm.sqrt.{mangled(a.ty)}"
        self.declared[name] = f"declare {a.ty} @{name}({a.ty})"
        return self.value(a.ty, f"call {self.fast} {a.ty} @{name}({a})".replace("  ", " "))

    def fma(self, a: V, b: V, c: V) -> V:
        return self.intrinsic("fma", a, b, c)

    def splat(self, a: V, lanes: int) -> V:
        ty = vector(a.ty, lanes)
        if a.known is not None:
            return const(ty, a.known)
        made = self._vector_copies.get((a.text, lanes)) or self._splat_of_sum(a, lanes)
        if made is not None:
            return made
        first = self.value(ty, f"insertelement {ty} poison, {a}, i64 0")
        made = self.value(
            ty, f"shufflevector {first}, {ty} poison, <{lanes} x i32> zeroinitializer"
        )
        if self._is_open:
            self._splats[made.text] = a
        return made

    def _splat_of_sum(self, a: V, lanes: int) -> V | None:
        """The splat of a sum of a number with a vector copy and a constant."""
        first, second = self._sums.get(a.text, (a, a))
        copy = self._vector_copies.get((first.text, lanes))
        if copy is None or second.known is None:
            return None
        return self.binary("add", copy, const(copy.ty, second.known))

    def note_splat(self, a: V, copy: V) -> None:
        """Notes that a vector has a number in all lanes, so that it is used as its splat."""
        if self._is_open:
            self._vector_copies[a.text, copy.lanes] = copy
            self._splats[copy.text] = a

    def splat_source(self, v: V) -> V | None:
        """The number that a vector is a splat of; None if it is none."""
        return self._splats.get(v.text)

    def extract(self, a: V, lane: V | int) -> V:
        index = V("i64", str(lane)) if isinstance(lane, int) else lane
        return self.value(a.element, f"extractelement {a}, {index}")

    def insert(self, a: V, b: V, lane: V | int) -> V:
        index = V("i64", str(lane)) if isinstance(lane, int) else lane
        return self.value(a.ty, f"insertelement {a}, {b}, {index}")

    def shuffle(self, a: V, b: V, lanes: Sequence[int]) -> V:
        order = ", ".join(f"i32 {lane}" for lane in lanes)
        ty = vector(a.element, len(lanes))
        return self.value(ty, f"shufflevector {a}, {b}, <{len(lanes)} x i32> <{order}>")

    def constants(self, element: str, numbers: Sequence[int]) -> V:
        """A vector of constants."""
        parts = ", ".join(f"{element} {_literal(element, number)}" for number in numbers)
        return V(vector(element, len(numbers)), f"<{parts}>")

    def any(self, mask: V) -> V:
        """Whether a bool is true, or any lane of a vector of bools."""
        if not mask.lanes:
            return mask
        if mask.known is not None:
            return const("i1", mask.known)
        bits = self.bitcast(mask, f"i{mask.lanes}")
        return self.icmp("ne", bits, const(bits.ty, 0))

    def gep(self, element: str, pointer: V, offset: V) -> V:
        if offset.known == 0 and not offset.lanes:
            return pointer
        ty = "ptr" if not offset.lanes else vector("ptr", offset.lanes)
        return self.value(ty, f"getelementptr {element}, {pointer}, {offset}")

    def load(self, ty: str, pointer: V, align: int | None = None) -> V:
        suffix = "" if align is None else f", align {align}"
        return self.value(ty, f"load {ty}, {pointer}{suffix}")

    def store(self, v: V, pointer: V, align: int | None = None, note: str = "") -> None:
        suffix = "" if align is None else f", align {align}"
        self.line(f"store {v}, {pointer}{suffix}{note}")


def mangled(ty: str) -> str:
    """A type as part of an intrinsic's name: `v8f32`."""
    element = element_of(ty)
    short = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}.get(element, element)
    lanes = V(ty, "").lanes
    return f"v{lanes}{short}" if lanes else short


def _size(ty: str, count: int) -> int:
    """The size of `count` numbers in bytes."""
    return max(bits_of(ty) // 8, 1) * count
