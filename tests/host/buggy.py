"""Kernels with one bug each, and their repaired twins.

A bug is a body in which `@` stands before the line to be blamed, or before both lines of a race.
The kernel has 64 threads in a group; its buffers have 128 elements each.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.host.texts import HEAD

SIGNATURE = """
kernel void bug(device float* a [[buffer(0)]],
                device float* b [[buffer(1)]],
                device int* n [[buffer(2)]],
                device atomic_int* c [[buffer(3)]],
                uint t [[thread_index_in_threadgroup]],
                uint g [[threadgroup_position_in_grid]],
                uint i [[thread_position_in_grid]]) {
    threadgroup float s[64];

"""
SYNC = "threadgroup_barrier(mem_flags::mem_threadgroup);"


@dataclass(frozen=True)
class Bug:
    """What is found in `wrong`; `right` is the same without it."""

    kind: str
    wrong: str
    right: str
    groups: int = 1

    def text(self, body: str) -> str:
        lines = [line.strip().lstrip("@").strip() for line in body.strip().splitlines()]
        numbered = [f"    {line} // bug.py:{number}" for number, line in enumerate(lines, 1)]
        return HEAD + SIGNATURE + "\n".join(numbered) + "\n}\n"

    @property
    def blamed(self) -> list[int]:
        """The lines of the bug, counted as in `bug.py`."""
        lines = self.wrong.strip().splitlines()
        return [number for number, line in enumerate(lines, 1) if line.strip().startswith("@")]


def swapped(before: str, after: str = SYNC) -> tuple[str, str]:
    """Threads write to `s` and read another thread's place, with something in between."""
    body = "@ s[t] = a[t];\n{}\n@ b[t] = s[t ^ 32];"
    return body.format(before), body.format(after)


BUGS: dict[str, Bug] = {
    "no barrier": Bug("READ_BEFORE_WRITE", "s[t] = a[t];\n@ b[t] = s[63 - t];",
                      f"s[t] = a[t];\n{SYNC}\nb[t] = s[63 - t];"),
    "barrier for device memory": Bug("READ_AFTER_WRITE_RACE",
                                     *swapped("threadgroup_barrier(mem_flags::mem_device);")),
    "barrier for no memory": Bug("READ_AFTER_WRITE_RACE",
                                 *swapped("threadgroup_barrier(mem_flags::mem_none);")),
    "barrier of the simdgroup across two": Bug(
        "READ_BEFORE_WRITE",
        "s[t] = a[t];\nsimdgroup_barrier(mem_flags::mem_threadgroup);\n@ b[t] = s[t ^ 32];",
        "s[t] = a[t];\nsimdgroup_barrier(mem_flags::mem_threadgroup);\nb[t] = s[t ^ 16];"),
    "no second barrier": Bug(
        "READ_AFTER_WRITE_RACE",
        f"s[t] = a[t];\n{SYNC}\n@ b[t] = s[t ^ 1];\n@ s[t] = 0.0f;",
        f"s[t] = a[t];\n{SYNC}\nb[t] = s[t ^ 1];\n{SYNC}\ns[t] = 0.0f;"),
    "device memory without a barrier": Bug(
        "READ_AFTER_WRITE_RACE", "@ a[t] = float(t);\n@ b[t] = a[(t + 63) % 64];",
        "a[t] = float(t);\nthreadgroup_barrier(mem_flags::mem_device);\nb[t] = a[(t + 63) % 64];"),
    "device memory with the wrong barrier": Bug(
        "READ_AFTER_WRITE_RACE", f"@ a[t] = float(t);\n{SYNC}\n@ b[t] = a[t ^ 1];",
        "a[t] = float(t);\nthreadgroup_barrier(mem_flags::mem_device);\nb[t] = a[t ^ 1];"),
    "all threads write one place": Bug("WRITE_WRITE_RACE", "@ b[0] = a[t];",
                                       "if (t == 0) { b[0] = a[t]; }"),
    "two groups write one place": Bug("WRITE_WRITE_RACE", "@ b[t] = float(g);",
                                      "if (g == 1) { b[t] = float(g); }", 2),
    "a group reads what another writes": Bug(
        "READ_AFTER_WRITE_RACE", "@ a[i] = 1.0f;\n@ b[i] = a[t];",
        "a[i] = 1.0f;\nb[i] = a[i];", 2),
    "a sum without atomics": Bug("READ_AFTER_WRITE_RACE", "@ n[0] = n[0] + 1;",
                                 "atomic_fetch_add_explicit(c, 1, memory_order_relaxed);"),
    "an atomic and a plain read": Bug(
        "WRITE_AFTER_READ_RACE",
        "@ atomic_fetch_add_explicit(c, 1, memory_order_relaxed);\n@ n[t] = *(device int*)c;",
        "atomic_fetch_add_explicit(c, 1, memory_order_relaxed);\n"
        "n[t] = atomic_load_explicit(c, memory_order_relaxed);"),
    "a read behind the end": Bug("READ_OUTSIDE", "@ b[t] = a[t + 65];", "b[t] = a[t + 64];"),
    "a read by one behind the end": Bug("READ_OUTSIDE", "@ b[t] = a[2 * t + 2];",
                                        "b[t] = a[2 * t + 1];"),
    "a read before the start": Bug("READ_OUTSIDE", "@ b[t] = a[int(t) - 1];",
                                   "b[t] = t > 0 ? a[int(t) - 1] : 0.0f;"),
    "a write behind the end": Bug("WRITE_OUTSIDE", "@ b[t + 65] = 0.0f;", "b[t + 64] = 0.0f;"),
    "a write before the start": Bug("WRITE_OUTSIDE", "@ b[int(t) - 1] = 0.0f;", "b[t] = 0.0f;"),
    "a wild write": Bug("WRITE_OUTSIDE", "@ b[1l << 40] = 0.0f;", "b[t] = 0.0f;"),
    "a loop that goes too far": Bug(
        "READ_OUTSIDE",
        "float x = 0.0f;\n@ for (int k = 0; k <= 128; ++k) { x += a[k]; }\nb[t] = x;",
        "float x = 0.0f;\nfor (int k = 0; k < 128; ++k) { x += a[k]; }\nb[t] = x;"),
    "an atomic outside": Bug(
        "WRITE_OUTSIDE", "@ atomic_fetch_add_explicit(&c[t + 65], 1, memory_order_relaxed);",
        "atomic_fetch_add_explicit(&c[t + 64], 1, memory_order_relaxed);"),
    "an index outside of threadgroup memory": Bug(
        "INDEX_OUTSIDE", "@ s[t + 1] = a[t];", "s[t] = a[t];"),
    "a pointer outside of threadgroup memory": Bug(
        "WRITE_OUTSIDE", "threadgroup float* p = s;\n@ p[t + 1] = a[t];",
        "threadgroup float* p = s;\np[t] = a[t];"),
    "an index outside of a local array": Bug(
        "INDEX_OUTSIDE", "float x[4] = {1.0f, 2.0f, 3.0f, 4.0f};\n@ b[t] = x[t % 5];",
        "float x[4] = {1.0f, 2.0f, 3.0f, 4.0f};\nb[t] = x[t % 4];"),
    "memory that nobody wrote": Bug("READ_BEFORE_WRITE", "@ b[t] = s[t];",
                                    "s[t] = 0.0f;\nb[t] = s[t];"),
    "memory that one thread did not write": Bug(
        "READ_BEFORE_WRITE", f"if (t < 63) {{ s[t] = 0.0f; }}\n{SYNC}\n@ b[t] = s[t];",
        f"s[t] = 0.0f;\n{SYNC}\nb[t] = s[t];"),
    "an atomic that nobody wrote": Bug(
        "READ_BEFORE_WRITE",
        "threadgroup atomic_int z;\n"
        "@ if (t == 0) { atomic_fetch_add_explicit(&z, 1, memory_order_relaxed); }",
        "threadgroup atomic_int z;\n"
        "if (t == 0) { atomic_store_explicit(&z, 1, memory_order_relaxed); }\n"
        "if (t == 0) { atomic_fetch_add_explicit(&z, 1, memory_order_relaxed); }"),
    "a barrier in a branch": Bug(
        "EXITED_BEFORE_BARRIER", f"s[t] = 0.0f;\n@ if (t < 32) {{ {SYNC} }}\nb[t] = s[t];",
        f"s[t] = 0.0f;\nif (g < 32) {{ {SYNC} }}\nb[t] = s[t];"),
    "a return before a barrier": Bug(
        "EXITED_BEFORE_BARRIER", f"if (t > 40) {{ return; }}\n@ {SYNC}\nb[t] = 0.0f;",
        f"{SYNC}\nif (t > 40) {{ return; }}\nb[t] = 0.0f;"),
    "two barriers in two branches": Bug(
        "DIFFERENT_BARRIERS", f"if (t < 32) {{\n@ {SYNC}\n}} else {{\n@ {SYNC}\n}}\nb[t] = 0.0f;",
        f"if (g < 32) {{\n{SYNC}\n}} else {{\n{SYNC}\n}}\nb[t] = 0.0f;"),
    "a barrier in different trips of a loop": Bug(
        "DIFFERENT_BARRIERS",
        f"for (uint k = 0; k < 3; ++k) {{\nif (k == t / 32) {{ continue; }}\n@ {SYNC}\n}}",
        f"for (uint k = 0; k < 3; ++k) {{\nif (k == g) {{ continue; }}\n{SYNC}\n}}"),
    "a shuffle from a lane in the other branch": Bug(
        "INACTIVE_LANE", "float x = a[t];\n@ if (t % 32 < 31) { x = simd_shuffle_down(x, 1); }",
        "float x = a[t];\nconst float next = simd_shuffle_down(x, 1);\n"
        "if (t % 32 < 31) { x = next; }\nb[t] = x;"),
    "a shuffle from a lane that has returned": Bug(
        "INACTIVE_LANE",
        "if (t > 40) { return; }\n@ b[t] = simd_shuffle(a[t], ushort(t % 32 ^ 1));",
        "if (t > 41) { return; }\nb[t] = simd_shuffle(a[t], ushort(t % 32 ^ 1));"),
    "a shuffle from a lane that there is not": Bug(
        "INACTIVE_LANE", "@ b[t] = simd_shuffle(a[t], ushort(t));",
        "b[t] = simd_shuffle(a[t], ushort(t % 32));"),
    "a broadcast from a lane that skipped a trip": Bug(
        "INACTIVE_LANE",
        "float x = 0.0f;\nfor (uint k = 0; k < 4; ++k) {\nif (k == t) { continue; }\n"
        "@ x += simd_broadcast(a[t], 2);\n}\nb[t] = x;",
        "float x = 0.0f;\nfor (uint k = 0; k < 4; ++k) {\nif (k == t) { continue; }\n"
        "x += simd_broadcast(a[t], 5);\n}\nb[t] = x;"),
    "a broadcast of several lanes": Bug(
        "DIFFERENT_DISTANCES", "@ b[t] = simd_broadcast(a[t], ushort(t % 2));",
        "b[t] = simd_broadcast(a[t], ushort(t / 32));"),
    "a shuffle by several distances": Bug(
        "DIFFERENT_DISTANCES", "@ b[t] = simd_shuffle_xor(a[t], ushort(t % 2));",
        "b[t] = simd_shuffle_xor(a[t], ushort(g + 1));"),
    "a matrix in a branch": Bug(
        "DIVERGED_SIMDGROUP",
        "simdgroup_float8x8 m(1.0f);\n@ if (t != 5) { simdgroup_load(m, a); }",
        "simdgroup_float8x8 m(1.0f);\nif (t < 32) { simdgroup_load(m, a); }"),
    "a product of matrices in a branch": Bug(
        "DIVERGED_SIMDGROUP",
        "simdgroup_float8x8 m(1.0f);\n@ if (t > 3) { simdgroup_multiply(m, m, m); }",
        "simdgroup_float8x8 m(1.0f);\nif (t > 31) { simdgroup_multiply(m, m, m); }"),
    "a barrier of the simdgroup in a branch": Bug(
        "DIVERGED_SIMDGROUP", "@ if (t > 40) { simdgroup_barrier(mem_flags::mem_none); }",
        "if (t > 31) { simdgroup_barrier(mem_flags::mem_none); }\n"
        "b[t] = t > 40 ? simd_sum(a[t]) : 0.0f;"),
    "an overflow": Bug("OVERFLOW", "@ n[t] = 2147483600 + int(t);", "n[t] = 2147483500 + int(t);"),
    "a division by zero": Bug("BAD_DIVISION", "@ n[t] = 7 / (int(t) - 9);",
                              "n[t] = 7 / (int(t) + 9);"),
    "a shift by too much": Bug("BAD_SHIFT", "@ n[t] = 1 << t;", "n[t] = 1 << (t % 31);"),
    "a float that does not fit": Bug("BAD_CAST", "@ n[t] = int(a[t] * 1e30f);",
                                     "n[t] = int(a[t]);"),
    "a component behind the end": Bug(
        "READ_OUTSIDE", "@ b[t] = ((device const float3*)a)[t].x;",
        "b[t] = ((device const float3*)a)[t % 32].x;"),
    "a written component behind the end": Bug(
        "WRITE_OUTSIDE", "@ ((device float4*)a)[t].y = 1.0f;",
        "if (t < 32) { ((device float4*)a)[t].y = 1.0f; }"),
    "two threads write one component": Bug(
        "WRITE_WRITE_RACE", "@ ((device float4*)a)[t / 4].x = 1.0f;",
        "((device float4*)a)[t / 4][t % 4] = 1.0f;"),
    "a component that another thread writes": Bug(
        "WRITE_AFTER_READ_RACE",
        "@ ((device float2*)a)[t].x = 1.0f;\n@ b[t] = ((device float2*)a)[t ^ 1].x;",
        "((device float2*)a)[t].x = 1.0f;\nb[t] = ((device float2*)a)[t ^ 1].y;"),
    "a vector of which one component was not written": Bug(
        "READ_BEFORE_WRITE",
        "threadgroup float3 v[64];\nv[t].xy = float2(1.0f);\n@ b[t] = length(v[t]);",
        "threadgroup float3 v[64];\nv[t].xy = float2(1.0f);\nv[t].z = 2.0f;\nb[t] = length(v[t]);"),
    "an element that a vector does not have": Bug(
        "INDEX_OUTSIDE", "float4 v = float4(a[t]);\n@ b[t] = v[t % 5];",
        "float4 v = float4(a[t]);\nb[t] = v[t % 4];"),
    "a column that a matrix does not have": Bug(
        "INDEX_OUTSIDE", "float2x2 m(1.0f);\n@ b[t] = m[t % 3][0];",
        "float2x2 m(1.0f);\nb[t] = m[t % 2][0];"),
    "a sum of vectors that overflows": Bug(
        "OVERFLOW", "@ n[t] = (int4(2147483600) + int4(int(t))).w;",
        "n[t] = (int4(2147483500) + int4(int(t))).w;"),
    "a vector of floats that does not fit": Bug(
        "BAD_CAST", "@ n[t] = int2(float2(3e9f, a[t])).y;", "n[t] = int2(float2(3e8f, a[t])).y;"),
    "a division of vectors by zero": Bug(
        "BAD_DIVISION", "@ n[t] = (int2(7) / (int2(int(t)) - 9)).x;",
        "n[t] = (int2(7) / (int2(int(t)) + 9)).x;"),
    "a shift of vectors by too much": Bug(
        "BAD_SHIFT", "@ n[t] = (int2(1) << int2(int(t))).x;", "n[t] = (int2(1) << 3).x;"),
    "a struct that ends behind the buffer": Bug(
        "READ_OUTSIDE",
        "struct Pair { float x; float y; float z; };\n"
        "@ const Pair p = *(device const Pair*)(a + t * 2);\nb[t] = p.x;",
        "struct Pair { float x; float y; float z; };\n"
        "const Pair p = *(device const Pair*)(a + t);\nb[t] = p.x;"),
    "a packed vector behind the end": Bug(
        "WRITE_OUTSIDE", "@ ((device packed_float3*)b)[t] = packed_float3(1.0f, 2.0f, 3.0f);",
        "if (t < 42) { ((device packed_float3*)b)[t] = packed_float3(1.0f, 2.0f, 3.0f); }"),
    "a matrix that is loaded from behind the end": Bug(
        "READ_OUTSIDE",
        "simdgroup_float8x8 m;\n@ simdgroup_load(m, a + 72, 8);\n"
        "b[t] = m.thread_elements()[0];",
        "simdgroup_float8x8 m;\nsimdgroup_load(m, a + 64, 8);\n"
        "b[t] = m.thread_elements()[0];"),
    "two simdgroups store one matrix": Bug(
        "WRITE_WRITE_RACE",
        "const simdgroup_float8x8 m(1.0f);\n@ simdgroup_store(m, a, 8);",
        "const simdgroup_float8x8 m(1.0f);\nsimdgroup_store(m, a + t / 32 * 64, 8);"),
    "an atomic sum that starts without a barrier": Bug(
        "WRITE_WRITE_RACE",
        "@ if (t == 63) { n[0] = 0; }\n"
        "@ atomic_fetch_add_explicit((device atomic_int*)n, 1, memory_order_relaxed);",
        "if (t == 63) { n[0] = 0; }\nthreadgroup_barrier(mem_flags::mem_device);\n"
        "atomic_fetch_add_explicit((device atomic_int*)n, 1, memory_order_relaxed);"),
    "a barrier in a loop that some leave": Bug(
        "EXITED_BEFORE_BARRIER",
        f"for (uint k = 0; k < 4; ++k) {{\nif (k > t) {{ return; }}\n@ {SYNC}\n}}\nb[t] = 0.0f;",
        f"for (uint k = 0; k < 4; ++k) {{\nif (k > g + 9) {{ return; }}\n{SYNC}\n}}\nb[t] = 0.0f;"),
    "a helper that writes behind the end": Bug(
        "WRITE_OUTSIDE", "device float* p = b + 65;\n@ p[t] = 1.0f;",
        "device float* p = b + 64;\np[t] = 1.0f;"),
    "a negative index": Bug("READ_OUTSIDE", "@ b[t] = a[-1 - int(t)];", "b[t] = a[1 + int(t)];"),
    "an int that is read as a misaligned long": Bug(
        "MISALIGNED", "@ b[t] = float(*(device const long*)((device const char*)a + 4 * t));",
        "b[t] = float(*(device const long*)((device const char*)a + 8 * (t % 32)) & 1);"),
    "a misaligned vector": Bug(
        "MISALIGNED", "@ b[t] = (*(device float4*)(a + t)).x;",
        "b[t] = (*(device float4*)(a + t % 16 * 4)).x;"),
}  # fmt: skip
