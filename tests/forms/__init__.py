"""The kernel that ARCHITECTURE.md shows in every form."""
