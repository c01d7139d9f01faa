"""The steps of a program in their order, with barriers and threadgroup memory."""
