"""Analyses of a function for the code generator."""
