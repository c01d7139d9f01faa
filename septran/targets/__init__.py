"""Targets: texts that are printed from the flat IR, and how C is compiled and run.

`codegen_dsa` prints C with calls of a vendor's library, `tvmscript` the same calls as TensorIR,
`tilelang` a TileLang program. The first two share `legalize` (the flat IR in the terms of such
libraries) and `calls` (which function a statement is, from a table of symbols).
"""
