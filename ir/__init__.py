"""The typed, structured IR that stands between the front end and every backend.

This text is the contract. `eas.ir.verify` checks it; a backend may rely on all of it.

**Shape.** A `Function` has parameters and one `Region`. A region has arguments and a tuple of ops;
the last op of every region is a *terminator*. Everything is immutable: a pass takes a function and
returns another. Values are in SSA form: each `Value` is defined once (by an op, or as a region's
argument) and is visible in the ops after its definition and in the regions nested in those.
Python's mutable variables are gone; what a loop changes is *carried*, what two paths join is
*yielded*.

**Types.** `Scalar(dtype)` is one value per program. `Block(dtype, shape)` is one value per *lane*,
with a static shape of one to four dimensions of any size. `Pointer(dtype, space)` is an array in
`device` or `threadgroup` memory; it comes from a parameter or from `Alloc`, is never joined,
carried or computed. Offsets are separate values and count elements. The extents and strides of an
array are parameters of i32, or of i64 where offsets into the array need 64 bits.

**Programs.** A grid of programs runs a function. In a *block* function the number of threads behind
a program is the backend's choice. A *thread* function (`Function.threads` is set) is written for
the threads of one threadgroup: its blocks all have the shape `(threads,)`, lane `i` is thread `i`.

**The lane model.** Code over blocks means what the scalar code would mean, run once for every lane.
A condition of block type *splits* the lanes: in the regions of such an `If` or `While`, and of a
`For` with block bounds, only the lanes that took this way are *active*. An `Exit` under a split
condition (`Break`, `Continue`, `Leave` below a block `If`) takes only the active lanes along; the
ops after it, up to the end of the construct that is left, run for the others, and a loop that some
lanes leave early is split in all of its regions. Ops on inactive lanes have no effect: a `Store`,
`Atomic`, `Load`, `Assert` or `Print` never happens for them, and a fault (division by zero) is
none. A scalar op below a split happens once if any lane is active; its operands are equal for all
of them. Inside a region that is split by a shape S each block that is defined there, or that an
effect or a condition there takes, has the rank of S and is equal to S or 1 in each dimension (or S
is 1 there). Only an `expand_dims` may give a block of fewer axes: it is on the way to that rank.

*Collective* ops (`OpDef.collective`, `Combine`, `Barrier`) are where lanes meet; they never stand
below a split.

**Joins.** `If.results[i]` is what the branch that was taken yields. Where the condition is a block,
a result has a shape that covers the condition's, unless both branches yield the same value or only
one of them yields (the other ends in an exit: the lanes that go on agree). A loop that is left by a
split exit (or tested by a block) has results that cover the split's shape, unless every way out
gives the same value and that was defined outside of the loop; so has a `Scope` that is left by a
split `Leave`, where the loop is one inside of it. The carried values may stay scalar: the lanes
that are still active agree. Only where a `Continue` stands below a block condition in the body, a
carried value covers the condition's shape, unless every way to the next trip passes the same value.

**Loops.** `For` counts from `start` by `step` and stops before `stop`, as `range` does; the number
of trips is fixed before the first, exactly, whatever the width of the counter. Its body's first
argument is the counter; it has the integer type that all three bounds have. `While` runs `test`
before each trip; that region ends in `Condition(condition, values)`, and `values` become the
arguments of the body, or of `orelse` when the condition fails; all of these have the types of
`inits`. In both, `Yield` at the end of the body and `Continue` pass the next trip's carried values.
When the loop is exhausted, `orelse` runs with the carried values and yields the loop's results;
`Break` gives the results directly and skips `orelse`. So a Python `else` of a loop *is* the
`orelse` region, and the carried values and the results may differ in number and type.

**Exits.** `Break` and `Continue` belong to the innermost loop around them (an `orelse` is outside
of its loop). No exit in the `test` of a `While` leaves that region. `Leave(label, values)` ends the
enclosing `Scope` with that label and gives its results: a `return` in a kernel or an inlined
helper, a `break` out of an unrolled loop. The pass `exits` removes every `Scope` and `Leave` with
plain `If`s and added results, so a backend only knows `Break` and `Continue`. An `If` whose
branches both end in exits has no results, and nothing follows it but a terminator that is never
reached (`Yield` of any values of the right types is put there).

**Combinations.** `Combine` is a reduction or a scan by a function that the user has written: its
region, which takes two elements (of several blocks, it takes and gives one value for each). That
function only computes: the region holds `Constant`s and element-wise `Compute`s of scalars, nothing
from outside of it, and ends in a `Yield`. It is associative, for a reduction commutative too: in
which order and by which pairs elements meet is the backend's choice.

**Effects.** A `Compute` is pure, and so is a `Combine`; it may be moved, merged or dropped. Where
`OpDef.can_fault` is set (integer division) it may not be moved above a condition. `Load` reads,
`Store` and `Atomic` write their pointer's array; `Assert`, `Print` and `Barrier` are effects of
their own (an assumed `Assert` is a promise that `relax` drops). Effects of one program happen in
the order of the text. A `Store` or `Atomic` of scalars happens once for the whole program. In a
function with `threads` the front end gives both the threads' shape: each thread does them, and
keeps its own order. `Load`, `Store` and `Atomic` take an optional `mask` of the offset's shape (a
scalar bool for a scalar offset): masked-off lanes touch nothing, a load gives `other` there, which
is always present when `mask` is.

**Types of ops.** The operands of an element-wise op have equal shapes; a scalar meets a block
through `splat`, a smaller block a larger one through `broadcast`. Dtypes are converted by `cast`
only.

**Locations.** Every op has a `Loc`. Passes keep them; a merged op keeps the first's.

**Text.** `eas.ir.text` prints a function and parses it back: `parse(print(f)) == f`.

**Temporaries.** A value used once may be printed in place by a backend, if no effect that could
change it stands between; every other value gets a name, made from `Value.hint`, the user's own word
for it.
"""
