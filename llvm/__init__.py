"""IR to LLVM text for the CPU: vectors over lanes, one function for a program."""
