"""Alias analysis of lanes: offsets as affine forms, and proofs that accesses are disjoint."""
