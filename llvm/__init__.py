"""Lowers the IR to LLVM text for the CPU: lanes become vectors, a program becomes a function."""

ENTRY = "eas_run"  # the function of a kernel's code that runs programs
