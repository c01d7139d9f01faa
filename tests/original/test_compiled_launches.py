"""`eas.runtime.get_runtime`, and what a compiled kernel says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir import Arg, DType, Inst, IRModule
from eas.runtime import get_runtime

Array = np.ndarray[Any, np.dtype[Any]]
META = {"BLOCK": 32}
scale_by = 1.0


@eas.kernel
def step(out, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, mk.load(out, i, i < N) + 1.0, i < N)


@eas.kernel
def step_by_threads(out, /, size, *, THREADS: eas.constexpr):
    i = mk.program_id(0) * THREADS + mk.tid(0, THREADS)
    mk.store(out, i, mk.load(out, i, i < size) + 1.0, i < size)


@eas.kernel
def scale(out):
    out[0] = out[0] * scale_by


@pytest.fixture
def out() -> Array:
    return np.zeros(100, np.float32)


@pytest.mark.usefixtures("everywhere")
def test_a_compiled_kernel_is_run_with_its_arguments_by_name(out: Array) -> None:
    runtime = get_runtime()
    assert runtime.is_available()
    compiled = step.compile(out, 100, BLOCK=32)
    given = {"out": out, "N": 100}
    runtime.run(compiled, given, META)
    runtime.run(compiled, given, META, nthreads=100)
    runtime.run(compiled, given, META, grid=(4, 1, 1), tptg=(16, 1, 1))
    runtime.run(compiled, given, META, shape=(100,), sync=False)
    runtime.synchronize()
    np.testing.assert_array_equal(out, 4)


@pytest.mark.usefixtures("everywhere")
def test_a_benchmark_gives_seconds_and_runs_that_often(out: Array) -> None:
    compiled = step_by_threads.compile("*f32", "i32", THREADS=64)
    given = {"out": out, "size": 100}
    options: Any = {"repeat": 3, "warmup": 2, "grid": lambda meta, args: 2}
    seconds = get_runtime().benchmark(compiled, given, {"THREADS": 64}, **options)
    assert 0 < seconds < 600
    np.testing.assert_array_equal(out, 5)


def test_a_runtime_has_the_backend_of_its_name() -> None:
    assert get_runtime("cpu").backend == "cpu"
    assert repr(get_runtime("interpret")) == "<runtime of the backend interpret>"
    with eas.use_backend("interpret"):
        assert get_runtime().backend == "interpret"
    with pytest.raises(eas.BackendError, match=r"^there is no backend `mpz`; did you mean `mps`\?"):
        get_runtime("mpz")


def test_the_gpu_of_a_mac_is_not_available_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eas.runtime.metal.missing", lambda: "there is none")
    eas.config.resolve_backend.cache_clear()
    assert not get_runtime("mps").is_available()
    eas.config.resolve_backend.cache_clear()


@pytest.mark.parametrize(
    ("given", "meta", "message"),
    [
        (
            {"N": 100},
            {"BLOCK": 64},
            ": it was compiled as `step(out: *f32, N: i32) with BLOCK=32`, and these arguments "
            "need `step(out: *f32, N: i32) with BLOCK=64`: compile it again",
        ),
        ({}, META, ": lacks the argument `N`"),
        (
            {"N": 100, "BLOCK": 32},
            {},
            ", argument `BLOCK`: it is a constexpr: it belongs in `meta`, not in `runtime_args`",
        ),
        (
            {},
            {**META, "N": 100},
            ", argument `N`: it is no constexpr: it belongs in `runtime_args`, not in `meta`",
        ),
    ],
)
def test_other_arguments_than_those_it_was_compiled_for_are_refused(
    out: Array, given: dict[str, Any], meta: dict[str, Any], message: str
) -> None:
    compiled = step.compile("*f32", "i32", BLOCK=32)
    with pytest.raises(eas.LaunchError) as caught:
        get_runtime().run(compiled, {"out": out, **given}, meta)
    assert str(caught.value) == f"kernel `step`{message}"
    assert not out.any()


def test_a_kernel_whose_captured_values_have_changed_is_refused(
    out: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = scale.compile(out)
    monkeypatch.setitem(globals(), "scale_by", 2.0)
    with pytest.raises(eas.LaunchError, match="values that it captured have changed"):
        get_runtime().run(compiled, {"out": out}, {}, grid=1)


@pytest.mark.parametrize("options", [{"repeat": 0}, {"warmup": -1}, {"repeat": 1.5}])
def test_a_benchmark_needs_numbers_of_launches(out: Array, options: dict[str, Any]) -> None:
    compiled = step.compile("*f32", "i32", BLOCK=32)
    with pytest.raises(eas.LaunchError, match="is an int of at least"):
        get_runtime().benchmark(compiled, {"out": out, "N": 100}, META, **options)


def test_a_compiled_kernel_knows_its_mode_and_block() -> None:
    blocks = step.compile("*f32", "i32", BLOCK=32)
    threads = step_by_threads.compile("*f32", "i32", THREADS=64)
    assert (blocks.launch_mode, blocks.block_size) == ("spmd", 32)
    assert (threads.launch_mode, threads.block_size) == ("thread", 64)
    assert scale.compile("*f32[:]").block_size == 1


def test_the_records_of_the_ir_have_their_old_names() -> None:
    function = step.compile("*f32", "i32", BLOCK=32).function
    assert isinstance(function, IRModule)
    assert all(isinstance(param, Arg) for param in function.params)
    assert all(isinstance(op, Inst) for op in function.body.ops)
    assert isinstance(mk.f32, DType)
