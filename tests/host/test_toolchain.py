"""Compilers and machines: what is looked for, and what each machine gets."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from eas.msl.host import Builder, Host, HostError
from eas.msl.host.build import HEAD as SHIM
from eas.msl.host.build import compile_library
from eas.msl.host.toolchain import NATIVE, find_toolchain
from eas.msl.host.translate import translate
from eas.support.cache import FOLDER, Cache, open_cache
from eas.support.records import replace
from tests.host.texts import HEAD, run_text

HALVES = (
    HEAD
    + """
kernel void halves(device const half* x [[buffer(0)]], device const half* y [[buffer(1)]],
                   device half* z [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    z[i] = x[i] * y[i] + x[i] / y[i] - half(i);
}
"""
)
BARRIER = (
    HEAD
    + """
kernel void turn(device float* x [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
    threadgroup float shared[64];
    shared[t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[t] = shared[63 - t] + simd_sum(1.0f);
}
"""
)


def halves(count: int, seed: int) -> np.ndarray:
    """Bit patterns of all kinds: numbers, subnormal ones, infinities, NaN."""
    bits = np.random.default_rng(seed).integers(0, 2**16, count, dtype=np.uint16)
    return bits.view(np.float16)


def expected_halves(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return x * y + x / y - np.arange(len(x)).astype(np.float16)


def check_halves(host: Host) -> None:
    x, y = halves(4096, 1), halves(4096, 2)
    z = np.zeros(4096, np.float16)
    run_text(host, HALVES, x, y, z, groups=(64, 1, 1), threads=(64, 1, 1))
    np.testing.assert_array_equal(z, expected_halves(x, y))


def test_halves_are_rounded_after_each_operation(host: Host) -> None:
    check_halves(host)


@pytest.mark.skipif("x86_64" not in find_toolchain().target[0], reason="of this machine only")
def test_a_machine_without_instructions_for_halves_gives_the_same(tmp_path: Path) -> None:
    tools = find_toolchain()
    old = tuple(flag for flag in tools.target if not flag.startswith("-march"))
    host = Host(Builder(open_cache(tmp_path), replace(tools, target=old)))
    check_halves(host)
    host.stop()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_both_machines_are_compiled_for(machine: str, tmp_path: Path) -> None:
    if "zig" not in find_toolchain().version:
        pytest.skip("only this compiler brings a linker for each machine")
    tools = replace(find_toolchain(), target=(f"--target={machine}-linux-gnu",))
    runtime = (NATIVE / "runtime.cpp").read_text("utf-8")
    for code in (runtime, SHIM + translate(BARRIER).code, SHIM + translate(HALVES).code):
        library = compile_library(tools, code, (), tmp_path).read_bytes()
        elf_machine = {"x86_64": 62, "aarch64": 183}[machine]
        assert int.from_bytes(library[18:20], "little") == elf_machine


def test_no_compiler_is_reported_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eas.msl.host.toolchain.find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(HostError) as caught:
        find_toolchain.__wrapped__()
    assert str(caught.value) == (
        "the backend `msl-host` compiles kernels with clang, and there is none: "
        "`pip install 'easy_as[host]'` brings one along"
    )


def test_another_system_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(HostError) as caught:
        find_toolchain.__wrapped__()
    assert str(caught.value) == "kernels run on Linux and macOS only, not on `win32`"


def test_another_compiler_or_flag_makes_another_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    tools = find_toolchain()
    builders = [Builder(cache, each) for each in (tools, tools, replace(tools, version="another"))]
    counts: list[int] = []
    for builder, flags in zip((*builders, builders[0]), ((), (), (), ("-O2",)), strict=True):
        builder.build([BARRIER], flags)
        counts.append(len(list((tmp_path / FOLDER).iterdir())))
    assert counts == [2, 2, 4, 6]  # the kernel, and Metal's library for it
