"""IR to IR: products as fragments of simdgroups, reductions fused and broadcast, lockstep."""
