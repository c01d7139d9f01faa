"""What the code generator asks about a function."""
