"""Machine and mapping files: read, checked, merged, resolved; every value knows its place.

    machine = load_machine("apple_gpu")                  # shipped, or the path of a file
    mapping = load_mapping("gemm.apple_gpu.map.yaml")    # or several: a mapping and overlays
    mapping = resolve(mapping, {"gemm_host.block_m": 64})
    instances = require_resolved(mapping)                # S601 where a `!tune` is left
    check_constraints(mapping, {"M": 512, "N": 512})     # S602 where one is false
    mapping.place("task_mappings", "gemm_block", "mems", "A")    # a Loc in the YAML

What is wrong is a `SeptranError` (an `eas.CompileError`) with all mistakes of the files. Who finds
more adds it to `Complaints`, with places from `mapping.place` and `mapping.key_place`.

The stages: `documents` reads the bytes, `composer` makes a tree of `nodes` from the events of
ruamel's parser, `merge` merges the trees of several files, `validation` holds a tree against the
pydantic models in `machine` and `mapping`, `names` checks names, `resolve` fills in what was tuned.
"""

try:
    import pydantic as _pydantic  # noqa: F401  # pyright: ignore[reportUnusedImport]
    import ruamel.yaml as _ruamel  # noqa: F401  # pyright: ignore[reportUnusedImport]
except ModuleNotFoundError as error:
    message = "SepTran reads files with pydantic and ruamel.yaml: pip install 'easy_as[septran]'"
    raise ModuleNotFoundError(message, name=error.name) from error

from eas.septran.files.complaints import Complaints, SeptranError
from eas.septran.files.machine import Machine, load_machine, shipped_machines
from eas.septran.files.mapping import Instance
from eas.septran.files.merge import Mapping, alternatives, complete, grouped, load_mapping, pick
from eas.septran.files.names import TaskNames, check_names
from eas.septran.files.resolve import (
    ResolvedInstance,
    Tune,
    check_constraints,
    parse_values,
    require_resolved,
    resolve,
    resolved_texts,
    tunes,
)

__all__ = [
    "Complaints",
    "Instance",
    "Machine",
    "Mapping",
    "ResolvedInstance",
    "SeptranError",
    "TaskNames",
    "Tune",
    "alternatives",
    "check_constraints",
    "check_names",
    "complete",
    "grouped",
    "load_machine",
    "load_mapping",
    "parse_values",
    "pick",
    "require_resolved",
    "resolve",
    "resolved_texts",
    "shipped_machines",
    "tunes",
]
