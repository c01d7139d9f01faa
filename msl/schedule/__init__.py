"""The schedule of a program: its steps, their barriers, and threadgroup memory."""
