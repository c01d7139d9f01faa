"""Habits from CUDA and Numba. Below each mistake stand its place and its code."""

import eas
from eas import mk


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def thread_idx(x, y, n):
    i = blockIdx.x * blockDim.x + threadIdx.x
#       ^^^^^^^^ E0201
#                    ^^^^^^^^ E0201
#                                 ^^^^^^^^^ E0201
    if i < n:
        y[i] = x[i]


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def shared(x, y, n):
    tile = mk.shared(256, mk.f32)
#             ^^^^^^ E0205
    tile[0] = x[0]
    mk.syncthreads()
#      ^^^^^^^^^^^ E0205


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def sync(x, y, n):
    __syncthreads()
#   ^^^^^^^^^^^^^ E0201
    y[0] = x[0]


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def address(x, y, n):
    atomicAdd(y + 3, x[0])
#   ^^^^^^^^^ E0201


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def cast(x, y, n):
    y[0] = float(n) / mk.float(3)
#                        ^^^^^ E0205


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def int_division(x, y, n):
    k = n / 2
    y[k] = x[k]
#            ^ E0501


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def numba_grid(x, y, n):
    i = cuda.grid(1)
#       ^^^^ E0201
    if i < x.size:
        y[i] = x[i]


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def numba_local(x, y, n):
    i = mk.grid(1)
#          ^^^^ E0205
    a = mk.local.array(4, mk.f32)
#                ^^^^^ E0205
    y[i] = a[0]


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def shift(x, y, n):
    y[0] = x[0] << 2
#          ^^^^ E0301
