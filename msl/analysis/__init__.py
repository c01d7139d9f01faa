"""What is known of a function before it is laid out over threads."""
