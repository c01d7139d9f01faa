"""Task Lang: what an operator computes, read from Python with `ast`, without a word on hardware.

An *inner* task cuts tensors into tiles and launches tasks on them; it never touches an element. A
*leaf* task computes: it calls one primitive, or has statements over whole tiles. Nothing here knows
of memories or processors; a mapping adds these in `eas.septran.lowering`.

    language     what logic is written with: `from eas import task_lang as task`
    tasks        tasks and primitives as Python declares them
    values       what an expression of an inner task can be: numbers, tensors, partitions
    expressions  expressions of inner tasks
    inner        statements of inner tasks, as steps: loops, branches, launches, local tensors
    leaves       statements of leaf tasks, as statements of the flat IR
    primitives   the standard primitives: shapes, privileges, meaning
    loading      files of logic and of primitives
    dimensions   names for the sizes of tensors: `C[M,N]`
    eager        runs a task on NumPy arrays: the reference for every mapping
"""
