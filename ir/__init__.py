"""The typed, structured IR between the front end and every backend.

This text is the contract. `eas.ir.verify` checks it; a backend may rely on all of it.

**Shape.** A `Function` has parameters and one `Region`. A region has arguments and a tuple of ops.
The last op of every region is a *terminator*. Everything is immutable: a pass takes a function and
returns another one. Values are in SSA form: each `Value` is defined once, by an op or as a region's
argument. It is visible in the ops after its definition and in the regions nested in those. There
are no mutable variables: a loop *carries* the values that it changes, and a region *yields* the
values that are joined after it.

**Types.** `Scalar(dtype)` is one value per program. `Block(dtype, shape)` is one value per *lane*;
its shape is static and has one to four dimensions of any size. `Pointer(dtype, space)` is an array
in `device` or `threadgroup` memory. It comes from a parameter or from `Alloc`, and is never joined,
carried or computed. Offsets are separate values and count elements. The extents and strides of an
array are parameters of i32, or of i64 where offsets into the array need 64 bits. A target may have
`tile` and `register` memory in some of its stages. No offset leads to an element of it: only the
target's own ops access it.

**Programs.** A grid of programs runs a function. In a *block* function the backend chooses how many
threads run one program. A *thread* function (`Function.threads` is set) is written for the threads
of one threadgroup: all of its blocks have the shape `(threads,)`, and lane `i` is thread `i`.

**The lane model.** Code over blocks means what the scalar code would mean, run once for every lane.
Lanes diverge at a condition of block type; we say that the condition *splits* the lanes, and that
the code below it is split. In the regions of an `If` or `While` with such a condition, and of a
`For` with block bounds, only the lanes that took this branch are *active*.
- Ops on inactive lanes have no effect: a `Store`, `Atomic`, `Load`, `Assert` or `Print` does not
  happen for them, and a division by zero is no fault.
- A scalar op below a split happens once if any lane is active. Its operands are equal for all
  active lanes.
- An `Exit` below a split condition (a `Break`, `Continue` or `Leave` below a block `If`) is taken
  by the active lanes only. The ops after it, up to the end of the construct that is left, run for
  the other lanes. A loop that some lanes leave early is split in all of its regions.
- Inside a region that is split by a shape S, every block that is defined there, or that an effect
  or a condition there uses, has the rank of S. In each dimension its extent is that of S or 1,
  unless S has 1 there. The exception is `expand_dims`: its result may have fewer axes, because
  another `expand_dims` may follow.

*Collective* ops (`OpDef.collective`, `Combine`, `Barrier`, `TargetOp`) need all lanes. They are
never below a split.

**Joins.** `If.results[i]` is what the branch that was taken yields. A value *covers* a split if it
can differ in each lane of it.
- A result of an `If` with a block condition covers the condition's shape, unless both branches
  yield the same value, or only one of them yields. In that case the other one ends in an exit, and
  the lanes that remain agree.
- A result of a loop that has a split exit or a block condition covers the split's shape, unless
  every path out of the loop gives the same value and that is defined outside of the loop. The same
  holds for a `Scope` that is left by a split `Leave`: such a value is defined outside of the loops
  in the scope.
- Carried values may stay scalar, because the lanes that are still active agree. But where a
  `Continue` is below a block condition in the body, a carried value covers the condition's shape,
  unless every path to the next trip passes the same value.

**Loops.** `For` counts from `start` by `step` and stops before `stop`, as `range` does. Its trip
count is fixed before the first trip, exactly, whatever the width of the counter. The first argument
of its body is the counter; it has the integer type that all three bounds have. `While` runs `test`
before each trip. That region ends in `Condition(condition, values)`, and `values` become the
arguments of the body, or of `orelse` when the condition fails; all of these have the types of
`inits`. In both loops, `Yield` at the end of the body and `Continue` pass the carried values of the
next trip. When the loop is exhausted, `orelse` runs with the carried values and yields the loop's
results. `Break` gives the results directly and skips `orelse`. So the `else` of a Python loop is
the `orelse` region, and the carried values and the results may differ in number and type.

**Exits.** `Break` and `Continue` belong to the innermost loop around them; an `orelse` is outside
of its loop. No exit in the `test` of a `While` leaves that region. `Leave(label, values)` ends the
enclosing `Scope` with that label and gives its results: it is a `return` in a kernel or an inlined
helper, or a `break` out of an unrolled loop. The pass `exits` replaces every `Scope` and `Leave` by
plain `If`s and added results, so a backend knows only `Break` and `Continue`. An `If` whose
branches both end in exits has no results. Only a terminator follows it, which is never reached: a
`Yield` of any values of the right types.

**Combinations.** `Combine` is a reduction or a scan by a function that the user has written. Its
region is that function: it takes two elements and gives one. Of several blocks it takes two
elements each and gives one value each. The function only computes: the region has `Constant`s and
element-wise `Compute`s of scalars, uses nothing from outside, and ends in a `Yield`. It is
associative; for a reduction it is also commutative. The backend chooses the order, and which
elements are paired.

**Effects.** A `Compute` is pure, and so is a `Combine`: it may be moved, merged or dropped. Where
`OpDef.can_fault` holds (integer division) it may not be hoisted above a condition. `Load` reads,
`Store` and `Atomic` write the array of their pointer. `Assert`, `Print` and `Barrier` are effects
of their own; an assumed `Assert` is a promise that `relax` drops. Effects of one program happen in
the order of the text. A `Store` or `Atomic` of scalars happens once for the whole program. In a
function with `threads` the front end gives both the threads' shape: every thread does them, in its
own program order. `Load`, `Store` and `Atomic` take an optional `mask` of the offset's shape (a
scalar bool for a scalar offset). Masked-off lanes access no memory. A load gives `other` there,
which is present whenever `mask` is.

**Ops of a target.** A stage of a target may have ops that `eas.ir.ops` lacks: a `Compute` with a
record of the target's, which is as pure as any other, or a `TargetOp`. A `TargetOp` is an effect:
it reads the memory of its pointers, and writes that of the operand that `TargetOpDef.writes` names.
Its record types it and says what it means, so the interpreter runs it. `eas.ir.stages` says which
ops are legal in a stage.

**Types of ops.** The operands of an element-wise op have equal shapes. A scalar becomes a block by
`splat`, a smaller block a larger one by `broadcast`. Dtypes are converted by `cast` only.

**Locations.** Every op has a `Loc`. Passes preserve them; a merged op has that of the first.

**Numbers.** An op has a `number` that no other op has. Passes that rebuild an op keep it; it is no
part of equality or text. Tables about ops are keyed by it; a region has that of its terminator.

**Text.** `eas.ir.text` prints a function and parses it back: `parse(print(f)) == f`.

**Temporaries.** A backend may print a value that is used once in place, if no effect in between
could change it. Every other value gets a name, made from `Value.hint`, the user's name for it.
"""

from eas.ir.nodes import Function as IRModule
from eas.ir.nodes import Op as Inst
from eas.ir.nodes import Param as Arg
from eas.ir.types import DType

# The names that the first easy_as had for the records of its IR.
__all__ = ["Arg", "DType", "IRModule", "Inst"]
