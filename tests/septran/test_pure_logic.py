"""The logic of an operator says what is computed: no word of it is about hardware."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eas.septran.files import load_machine
from tests.septran.operators import FOLDER, REPOSITORY

LOGICS = sorted(FOLDER.rglob("*_logic.py"))
MACHINES = sorted(each.stem for each in (REPOSITORY / "septran" / "machines").glob("*.yaml"))
# Words of hardware and of the languages for it, besides the names in the machines' own files.
HARDWARE = (
    "accelerator", "async", "avx", "bank", "barrier", "buffering", "byte", "cache", "coalesced",
    "core", "cpu", "cuda", "device", "dma", "dram", "dsp", "fence", "fpga", "fragment",
    "global", "gpu", "grid", "hardware", "hbm", "kernel", "kib", "lane", "machine", "memory",
    "metal", "mma", "neon", "npu", "nvidia", "occupancy", "opencl", "pipeline", "prefetch",
    "processor", "register", "rocm", "scratchpad", "shared", "simd", "sme", "smem", "sram",
    "stage", "subgroup", "swizzle", "sync", "systolic", "tensorcore", "thread", "threadgroup",
    "tma", "tpu", "vector", "vmem", "vram", "warp", "wavefront", "wgmma", "wmma", "workgroup",
)  # fmt: skip

# Names of processors and memories that are words of algorithms and of Task Lang, too.
ALGORITHMS = {"block", "group", "host", "item", "local", "private"}


def hardware_words() -> frozenset[str]:
    words = {*HARDWARE, *MACHINES}
    for name in MACHINES:
        machine = load_machine(name)
        words |= {*machine.procs, *machine.mems, *machine.symbols, *machine.symbols.values()}
        words |= {each.name for several in machine.primitives.values() for each in several}
    return frozenset(each.lower() for each in words) - ALGORITHMS


def found_in(text: str) -> set[str]:
    """The words of hardware in a text; `copy_to_shared`, `sharedMemory` and plurals have some."""
    spaced = f"{text} {re.sub(r'(?<=[a-z])(?=[A-Z])', ' ', text)}".lower()
    words = {*re.findall(r"[a-z0-9.]+", spaced), *re.findall(r"[a-z0-9_.]+", spaced)}
    words = {each.strip(".") for each in words}
    return (words | {each.removesuffix("s") for each in words}) & hardware_words()


def test_every_operator_has_a_logic_file() -> None:
    folders = {each.parent for each in FOLDER.rglob("*.map.yaml")}
    assert len(folders) >= 6
    assert {each.parent for each in LOGICS} == folders


@pytest.mark.parametrize("path", LOGICS, ids=lambda path: path.name)
def test_a_logic_has_no_word_of_hardware(path: Path) -> None:
    assert found_in(path.read_text("utf-8")) == set()


@pytest.mark.parametrize(
    "text",
    ["# in SHARED", "def copy_to_spm(A):", "task.launch(on_apple_gpu, A)", "sharedMemory = 1",
     'call_primitive("dsa.mma")', "inRegisters = 2", "# 16 KiB"],
)  # fmt: skip
def test_words_of_hardware_are_found(text: str) -> None:
    assert found_in(text)
