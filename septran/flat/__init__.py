"""The flat IR of SepTran: kernels as lists of allocations, copies, waits, barriers and tile ops.

It is what the lowering makes of one logic and one mapping, and what every target prints. Nothing is
implicit in it: every byte that moves has a `copy` or a `start`, every memory an `alloc`.

    module     "module" name "(" param... ")" "machine" name "{" temp* kernel+ "}"
    temp       "temp" name ":" dtype "[" extent... "]" memory              lives between kernels
    kernel     "kernel" name "(" param... ")" "grid" "[" (name "<" extent)... "]"
               "threads" int "{" stmt* "}"
    param      name ":" dtype "[" extent... "]" memory ("r" | "w" | "rw")

    stmt       what [origin] line break
    what       "alloc" name ":" dtype "[" int... "]" memory "slots" int "pad" int ["mixed"]
               "copy" view "<-" view ["fill" number]
               "start" view "<-" view ["fill" number] "token" name
               "wait" name ["keep" affine]
               "barrier" proc memory
               "fill" view number
               "map" view "=" expr
               "reduce" view ("add" | "mul" | "max" | "min") "=" view "axis" int
               "mma" view "+=" view "@" view ["trans" ("a" | "b" | "ab")] "by" primitive
               "call" symbol "(" (("r" | "w" | "rw") view | affine | constant)... ")"
               "for" name "<" affine ["pipelined" int] "{" stmt* "}"
               "pfor" name "<" affine "at" proc ["reduce" "add" name...] "{" stmt* "}"
               "if" affine ("<" | "<=" | "==" | "!=" | ">" | ">=") affine "{" stmt* "}"
    view       name "." memory ["@" "(" slot ")"] "[" (offset [":" extent])... "]"
    origin     ["because" string] ["yaml" place] ["python" place]

**Views** are rectangles: per axis an offset and an extent, affine in loop variables and sizes. An
axis with an offset only is indexed there, and the view does not have it: a view of rank 2 may be in
an array of rank 3. An allocation with slots has that many copies of its shape; `@` says which one
a view is in.

**Copies** move the elements of the source's extents to the start of the destination. With `fill`
the destination may be larger: the rest of it is set to the number. The dtypes are equal, or both
are floats and each element is rounded.

**`start`** is a copy that has happened only when a `wait` for its token has. A token is a queue:
`wait t keep n` waits until the n latest copies of the token, or fewer, are still in flight.

**`map`** computes each element of its destination. Operands have the destination's shape, or one
that NumPy broadcasts to it. Each operation is rounded to its dtype.

**`mma`** adds a matrix product, **`reduce`** adds (or multiplies, or takes the extreme of) all
elements along an axis to what the destination holds. Both accumulate f16 and bf16 in f32.

**`for ... pipelined n`** runs like any other loop. It says that the copies into the slots of its
buffers may be started n - 1 trips early: `eas.septran.flat.pipelines` does so for targets that have
`start` and `wait`, others (TileLang) have a loop of their own for it.

**`pfor`** and the grid run their iterations in any order or at the same time: what one writes no
other touches, except for the buffers of `reduce add`, which are only added to.
"""
