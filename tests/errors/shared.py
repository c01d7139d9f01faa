"""Helpers that broken kernels of other files call."""


def mean_of_three(a, b, c):
    return total_of(a, b, c) / 3.0


def total_of(*parts):
    return sum(parts) + bias
