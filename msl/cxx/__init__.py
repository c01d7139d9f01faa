"""The tree of C++ statements and expressions, and its text."""
