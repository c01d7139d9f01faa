"""The ops that only Metal has, its dtypes, pieces of its text, and refusals."""
