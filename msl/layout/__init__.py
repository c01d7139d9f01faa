"""Which thread holds which element of a block."""
