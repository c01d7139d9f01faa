"""What editors and checks show of kernels."""
