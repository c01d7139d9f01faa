"""Reads Metal texts as our compiler writes them, and counts what they cost."""
