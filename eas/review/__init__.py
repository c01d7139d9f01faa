"""What a change does to the Metal texts of kernels, and to their cost: `eas review OLD NEW`."""
