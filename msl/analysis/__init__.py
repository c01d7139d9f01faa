"""Analyses of a function before its blocks are distributed over threads."""
