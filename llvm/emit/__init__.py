"""LLVM instructions as text, and how each op is spelled with them."""
