"""Kernels of another language, brought along."""
