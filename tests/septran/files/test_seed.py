"""Files as SepTran was first sketched: they load as they were written."""

from __future__ import annotations

from pathlib import Path

from eas.septran.files import load_mapping, require_resolved, resolve, tunes

SEED = Path(__file__).parent / "seed"
MAPPING = SEED / "gemm_on_nvidia_gpu.mapping.yaml"
OVERLAY = SEED / "gemm_on_nvidia_gpu.map.yaml"
TUNED = SEED / "tuned_on_nvidia_gpu.map.yaml"


def test_the_mapping_is_complete_and_for_the_machine_in_its_name() -> None:
    mapping = load_mapping(MAPPING)
    assert (mapping.machine.name, mapping.is_overlay) == ("nvidia_gpu", False)
    host, block = require_resolved(mapping).values()
    assert (host.task_name, host.proc) == ("gemm_host_logic", "HOST")
    assert host.tunables == {"block_size": 128}
    assert host.calls == {"gemm_block_logic": "gemm_block_gpu"}
    assert (block.proc, block.pipeline) == ("BLOCK", 3)
    assert block.mems == {"C": "REGISTER", "A": "SHARED", "B": "SHARED"}


def test_the_overlay_binds_a_primitive_in_the_mapping() -> None:
    mapping = load_mapping([MAPPING, OVERLAY])
    block = require_resolved(mapping)["gemm_block_gpu"]
    assert block.bindings == {"gemm_leaf_logic": "gemm_leaf_tensorcore"}
    bindings = ("task_mappings", "gemm_block_gpu", "leaf_task_bindings")
    assert str(mapping.place(*bindings, "gemm_leaf_logic")) == "gemm_on_nvidia_gpu.map.yaml:6"


def test_an_overlay_alone_is_an_overlay() -> None:
    mapping = load_mapping(SEED / "gemm_on_awesomedsa.map.yaml")
    assert (mapping.machine.name, mapping.is_overlay) == ("awesomedsa", True)


def test_the_fragment_with_choices_is_resolved_by_keys() -> None:
    mapping = load_mapping([MAPPING, TUNED])
    assert {tune.key: tune.options for tune in tunes(mapping)} == {
        "gemm_block_gpu.block_size_M": (64, 128, 256),
        "gemm_block_gpu.pipeline_depth": (2, 3, 4, 5),
        "gemm_block_gpu.leaf_task_bindings.gemm_leaf_logic": (
            "gemm_leaf_tensorcore",
            "gemm_leaf_simt",
        ),
    }
    values = {
        "gemm_block_gpu.block_size_M": 128,
        "gemm_block_gpu.pipeline_depth": 4,
        "gemm_block_gpu.leaf_task_bindings.gemm_leaf_logic": "gemm_leaf_simt",
    }
    block = require_resolved(resolve(mapping, values))["gemm_block_gpu"]
    assert (block.pipeline, block.tunables["block_size_M"]) == (4, 128)
    assert block.bindings == {"gemm_leaf_logic": "gemm_leaf_simt"}
