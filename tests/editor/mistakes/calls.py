"""Calls that are wrong. Below each mistake stand its place and its code."""

import os

import eas
from eas import mk


def scaled(x, factor, offset=0.0):
    return x * factor + offset


@eas.kernel(examples=[("*f32[:]",)])
def missing_argument(x):
    x[0] = scaled(x[1])
#          ^^^^^^ E0413


@eas.kernel(examples=[("*f32[:]",)])
def too_many_arguments(x):
    x[0] = scaled(x[1], 2.0, 3.0, 4.0)
#                                 ^^^ E0427


@eas.kernel(examples=[("*f32[:]",)])
def given_twice(x):
    x[0] = scaled(x[1], 2.0, factor=3.0)
#                            ^^^^^^ E0429


@eas.kernel(examples=[("*f32[:]",)])
def function_of_the_system(x):
    x[0] = os.getpid()
#          ^^^^^^^^^ E0411


@eas.kernel(examples=[("*f32[:]", "f32")])
def called_number(x, v):
    x[0] = v(2.0)
#          ^ E0411


def endless(n):
    return endless(n - 1)
#          ^^^^^^^^^^^^^^ E0418


@eas.kernel(examples=[("*f32[:]", "i32")])
def recursion(x, n):
    x[0] = endless(n)
