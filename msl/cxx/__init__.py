"""The tree of C++ that becomes the text, and how it is spelled and printed."""
