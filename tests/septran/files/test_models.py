"""Any valid model is written as YAML and read back as the same model."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eas.ir.types import DTYPES
from eas.septran.files import Machine, load_machine
from eas.septran.files.complaints import Complaints
from eas.septran.files.documents import parse
from eas.septran.files.machine_names import check_machine
from eas.septran.files.mapping import Instance, MappingFile
from eas.septran.files.model import DTypeName, Strict
from eas.septran.files.names import check_tree
from eas.septran.files.nodes import TuneData
from eas.septran.files.offsets import Text
from eas.septran.files.tune_tags import BRANCHES, TUNE_TYPES
from eas.septran.files.validation import validate
from eas.septran.files.writing import to_yaml

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True) | st.sampled_from(
    ["null", "true", "no", "GLOBAL", "gemm_leaf_logic", "None"]
)
keys = names
small = st.integers(-(2**31), 2**31 - 1)
positive = st.integers(1, 2**31 - 1)
figures = st.floats(min_value=1e-12, max_value=1e18) | st.integers(1, 10**12).map(float)
dtypes = st.sampled_from(list(DTYPES))
texts = st.text(st.characters(codec="utf-8"), max_size=30)
expressions = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


def maps(values: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(keys, values, max_size=most)


def lists(values: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=least, max_size=3)


def record(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A map in which any key may be missing."""
    return st.fixed_dictionaries({}, optional=fields)


def tune(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[TuneData]:
    return st.fixed_dictionaries({"type": st.just(kind), **fields}).map(TuneData)


def choice(values: st.SearchStrategy[Any], kind: str = "choice") -> st.SearchStrategy[TuneData]:
    distinct = st.lists(values, min_size=1, max_size=4, unique_by=lambda each: (type(each), each))
    return tune(kind, values=distinct)


ranges = st.tuples(st.integers(-500, 500), st.integers(0, 500)).flatmap(
    lambda pair: tune("int", low=st.just(pair[0]), high=st.just(pair[0] + pair[1]))
)
powers = st.integers(0, 20).flatmap(
    lambda n: tune("pow2", low=st.integers(1, 1 << n), high=st.integers(1 << n, 2**31 - 1))
)
numbers = small | st.booleans() | choice(small | st.booleans()) | ranges | powers | tune("bool")
memories = names | choice(names) | choice(names, "memory") | tune("memory")
bindings = names | choice(names) | choice(names, "binding") | tune("binding")


def counts(least: int, most: int) -> st.SearchStrategy[Any]:
    """A number in a range, or a choice of such numbers."""
    inner = st.integers(least, most)
    steps = st.tuples(inner, inner).map(sorted).filter(lambda pair: pair[1] - pair[0] < 1000)
    open_range = steps.map(lambda pair: TuneData({"type": "int", "low": pair[0], "high": pair[1]}))
    return inner | choice(inner) | open_range


instances = record(
    task_name=names,
    proc=names,
    mems=maps(memories),
    locals=maps(memories),
    tunables=maps(numbers),
    calls=maps(names | choice(names)),
    pipeline=counts(1, 64),
    threads=counts(1, 65536),
    leaf_task_bindings=maps(bindings),
    layout=maps(record(pad=counts(0, 4096))),
)
mappings = record(
    machine=texts,
    extends=expressions | lists(expressions),
    entrypoint=names,
    task_mappings=maps(instances | tune("instance", values=lists(instances, 1))),
    constraints=lists(expressions),
    when=expressions | lists(expressions),
)
dotted = st.lists(names, min_size=1, max_size=3).map(".".join)
copies = record(
    mode=st.sampled_from(["synchronous", "start_wait"]),
    symbol=dotted,
    wait=dotted,
    bandwidth=figures,
    latency=figures,
)
primitives = st.fixed_dictionaries(
    {"name": names},
    optional={
        "shape": maps(positive),
        "dtypes": lists(dtypes),
        "accumulates": dtypes,
        "mems": maps(lists(names)),
        "procs": lists(names),
        "symbol": dotted,
        "flops": figures,
    },
)
memory_models = st.fixed_dictionaries(
    {"kind": st.sampled_from(["global", "scratch", "registers"]), "visible": lists(names, 1)},
    optional={"capacity": st.integers(1, 2**48 - 1), "align": positive, "bandwidth": figures},
)
machines = st.fixed_dictionaries(
    {
        "name": names,
        "targets": lists(st.sampled_from(["cpu", "apple_gpu", "c", "tvm", "tilelang"]), 1),
        "grid": names,
        "procs": st.dictionaries(
            keys, record(threads=positive, max_threads=positive), min_size=1, max_size=3
        ),
        "mems": st.dictionaries(keys, memory_models, min_size=1, max_size=3),
    },
    optional={
        "about": texts,
        "runs": st.booleans(),
        "default_dtype": dtypes,
        "scratch": st.sampled_from(["local", "parameter"]),
        "copies": st.dictionaries(st.tuples(names, names).map("->".join), copies, max_size=3),
        "primitives": maps(lists(primitives)),
        "symbols": st.dictionaries(dotted, names, max_size=3),
        "library": record(headers=lists(texts), sources=lists(texts), links=lists(names)),
        "cost": record(
            flops=st.dictionaries(dtypes, figures, max_size=3),
            cores=positive,
            launch=figures,
            barrier=figures,
        ),
    },
)


def read_back(model: Strict) -> Strict | None:
    complaints = Complaints()
    document = parse(Text(to_yaml(model), "model.yaml"), complaints)
    found = validate(type(model), document.root, complaints) if document else None
    complaints.raise_if_any()
    return found


@given(mappings)
def test_any_mapping_is_read_back(data: dict[str, Any]) -> None:
    model = MappingFile.model_validate(data)
    assert read_back(model) == model


@given(machines)
def test_any_machine_is_read_back(data: dict[str, Any]) -> None:
    model = Machine.model_validate(data)
    assert read_back(model) == model


HOSTILE = "type values low high pad name visible GLOBAL->SPM gemm_host block_m dsa.mma [key] <a> é"
hostile_keys = st.sampled_from(
    [
        *MappingFile.model_fields,
        *Instance.model_fields,
        *Machine.model_fields,
        *BRANCHES,
        *TUNE_TYPES,
        *HOSTILE.split(),
        "",
        "a b",
    ]
)
hostile_values = st.one_of(
    numbers,
    memories,
    bindings,
    texts,
    st.sampled_from(["cpu", "gemm_host", "a.b < 3", "HOST", "GLOBAL", "dsa.mma", "start_wait"]),
    st.floats(allow_nan=True),
)
hostile_trees = st.recursive(
    hostile_values,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(hostile_keys, inner, max_size=4),
        st.dictionaries(hostile_keys, inner, max_size=4).map(TuneData),
    ),
    max_leaves=25,
)


@given(
    st.dictionaries(
        hostile_keys,
        hostile_trees | st.dictionaries(names, hostile_trees | instances, max_size=3),
        max_size=6,
    )
)
def test_any_tree_is_a_model_or_has_complaints(data: dict[str, Any]) -> None:
    complaints = Complaints()
    text = to_yaml(data).replace("NaN", ".nan").replace("Infinity", ".inf")
    document = parse(Text(text, "model.yaml"), complaints)
    if document is not None:
        for model in (MappingFile, Machine):
            assert validate(model, document.root, complaints) is not None or complaints
        check_tree(document.root, load_machine("cpu"), (), complaints)
        check_machine(document.root, complaints)
    if complaints:
        assert str(complaints.error())


def test_every_dtype_of_the_language_has_a_name_in_files() -> None:
    assert set(DTypeName.__args__) == set(DTYPES)
