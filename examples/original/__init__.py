"""Programs as users of the first easy_as wrote them, see docs/original.md."""
