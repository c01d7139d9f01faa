"""Kernels without types, which are checked in part. Below each mistake stand its place and code."""

import eas
from eas import mk


@eas.kernel
def undefined_in_arguments(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, mask=i < M), mask=i < N)
#                                         ^ E0201


@eas.kernel
def unknown_function(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y, i, mk.soft_max(mk.load(x, i)))
#                     ^^^^^^^^ E0205


@eas.kernel
def refused_in_a_loop(x, N):
    for k in range(N):
        with x:
#       ^^^^^^ E0103
            x[k] = 1.0


@eas.kernel
def undefined_in_a_condition(x, N):
    if N > 3 and x[0] < lower:
#                       ^^^^^ E0201
        x[1] = 0.0


@eas.kernel
def generator(x, N):
    for k in range(N):
        yield x[k]
#       ^^^^^^^^^^ E0113


@eas.kernel
def known_parts(x, N):
    a = mk.arange(0, 8) + mk.arange(0, 4)
#                         ^^^^^^^^^^^^^^^ E0304
    x[N] = mk.sum(a)
