"""Where lanes touch arrays: offsets as sums of terms, and proofs that accesses never meet."""
