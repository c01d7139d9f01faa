"""What a command would do with files: load them, hold them against a logic, resolve, and check."""

from __future__ import annotations

from pathlib import Path

from eas.septran.files import (
    SeptranError,
    TaskNames,
    check_constraints,
    check_names,
    load_machine,
    load_mapping,
    parse_values,
    pick,
    require_resolved,
    resolve,
)

SIZES = {"M": 512, "N": 512, "K": 512}
LEAVES = ("gemm_leaf_logic", "zero_leaf")
TASKS = {
    "gemm_host_logic": TaskNames(
        parameters=("C", "A", "B"),
        tunables=("block_m", "block_n", "block_k"),
        launches=("gemm_block_logic",),
        leaves=LEAVES,
    ),
    "gemm_block_logic": TaskNames(
        parameters=("C", "A", "B"), tunables=("block_k",), launches=LEAVES, leaves=LEAVES
    ),
    "gemm_leaf_logic": TaskNames(parameters=("C", "A", "B")),
    "zero_leaf": TaskNames(parameters=("C",)),
}


def check(*paths: Path | str, machine: str | None = None) -> None:
    """Check a machine, or a mapping for gemm; `# --tune key=value` in its first line is obeyed."""
    if str(paths[0]).endswith(".machine.yaml"):
        load_machine(paths[0])
        return
    mapping = pick([load_mapping(paths, machine=machine)], SIZES)
    if mapping.is_overlay:
        return
    check_names(mapping, TASKS)
    mapping = resolve(mapping, chosen_in(Path(paths[0]).read_text("utf-8")))
    require_resolved(mapping)
    check_constraints(mapping, SIZES)


def chosen_in(text: str) -> dict[str, int | bool | str]:
    first = text.partition("\n")[0]
    if not first.startswith("# --tune "):
        return {}
    return parse_values(first.removeprefix("# --tune ").split())


def error_of(*paths: Path | str, machine: str | None = None) -> SeptranError:
    try:
        check(*paths, machine=machine)
    except SeptranError as error:
        return error
    raise AssertionError(f"nothing is wrong with {paths}")
