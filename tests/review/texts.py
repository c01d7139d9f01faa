"""Small Metal texts for tests: a kernel around given statements."""

from __future__ import annotations

from textwrap import indent


def metal(
    body: str, *, threads: int = 64, parameters: str = "", functions: str = "", name: str = "probe"
) -> str:
    """A text with the arrays `x` and `y` of floats, and the numbers of a thread."""
    return f"""// {name}(x: *f32, y: *f32, N: i32) · {threads} threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

{functions}
kernel void {name}(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant int& N [[buffer(2)]],{parameters}
                  uint3 program [[threadgroup_position_in_grid]],
                  uint3 thread_position [[thread_position_in_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]]) {{
    const int t = int(thread_position.x);
{indent(body.strip(), "    ")}
}}
"""
