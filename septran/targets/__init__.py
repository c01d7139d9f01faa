"""Targets: texts that are printed from the flat IR, and how C and OpenCL are compiled and run.

`codegen_dsa` prints C with calls of a vendor's library, `tvmscript` the same calls as TensorIR,
`opencl` OpenCL C, `tilelang` a TileLang program. All but the last share `legalize` (the flat IR in
the terms of such libraries) and `calls` (which function a statement is, from a table of symbols).
`build` runs C in this process, `emulated` in an emulator, `opencl_run` OpenCL on a device; `needs`
says what a machine lacks here.
"""
