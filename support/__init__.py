"""The base of all packages: records, locations, diagnostics, timing, caches, report buffers.

`support` imports nothing of ours.
"""
