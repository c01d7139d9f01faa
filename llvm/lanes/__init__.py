"""Code for the lanes of a few vectors: values, masks, branches, loops, memory, bounds checks."""
