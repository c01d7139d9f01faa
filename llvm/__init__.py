"""IR to LLVM text for the CPU: vectors over lanes, one function for a program."""

ENTRY = "eas_run"  # the function of a kernel's code that runs programs
