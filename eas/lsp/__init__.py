"""The language server: `eas lsp`, with the extra `lsp`."""
