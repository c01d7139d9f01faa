"""What tools know of a file of kernels without launching any: `eas check` and `eas lsp`."""
