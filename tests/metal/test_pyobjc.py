"""Every selector and constant that we use, and that the simulation offers, is one of pyobjc's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eas.runtime.metal import completion, requirements
from tests.metal.simulated import (
    arguments,
    blits,
    buffers,
    commands,
    device,
    encoders,
    events,
    foundation,
    objects,
    pipelines,
)
from tests.metal.simulated import libraries as simulated_libraries
from tests.metal.simulated.machine import M1_FAMILIES
from tests.metal.simulated.objects import Described, constant, extract

RUNTIME = Path(__file__).parent.parent.parent / "runtime" / "metal"
SIMULATED = [
    objects, blits, buffers, commands, device, encoders, events, foundation, simulated_libraries,
    pipelines
]  # fmt: skip
FILES = sorted(RUNTIME.glob("*.py"))

# pyobjc has these from the Objective-C runtime, not from its table. All are Apple's documented
# ones; the setters of MTLCompileOptions are those of macOS 11 (version) and 15 (mathematics).
INTROSPECTED = {
    "NSObject": {"alloc", "init", "release", "retainCount"},
    "NSError": {"code", "domain", "localizedDescription"},
    "NSProcessInfo": {"operatingSystemVersion", "processInfo"},
    "MTLCompileOptions": {
        "setLanguageVersion_",
        "setMathFloatingPointFunctions_",
        "setMathMode_",
    },
}
KNOWN = {selector.replace(":", "_") for selector in extract()["selectors"]}.union(
    *INTROSPECTED.values()
)
# What pyobjc itself offers in Python.
PYTHON = {"as_buffer", "autorelease_pool", "objc_object", "pyobjc_id"} | set(extract()["functions"])
RESULTS = {"v": "None", "Q": "int", "q": "int", "Z": "bool", "d": "float"}


def metadata(name: str) -> dict[str, Any]:
    """What pyobjc's table says about a selector, given as a method's name."""
    owners = extract()["selectors"].get(name.replace("_", ":"), {})
    return next(iter(owners.values()), {})


def outputs(name: str) -> int:
    """How many arguments come out: each is an item of the tuple that pyobjc gives."""
    arguments = metadata(name).get("arguments", {})
    return sum(each.get("type_modifier") == "o" for each in arguments.values())


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def declared() -> dict[str, ast.FunctionDef]:
    return {
        method.name: method
        for node in parse(RUNTIME / "objects.py").body
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, ast.FunctionDef)
    }


@pytest.mark.parametrize("name", sorted(set(declared()) - PYTHON))
def test_a_declared_method_is_a_selector(name: str) -> None:
    assert name in KNOWN
    method = declared()[name]
    assert len(method.args.args) - 1 == name.count("_")
    assert method.returns is not None
    assert result_is_right(name, ast.unparse(method.returns))


def result_is_right(name: str, annotation: str) -> bool:
    """Whether a method says what pyobjc gives for its encoding."""
    if outputs(name):
        match ast.parse(annotation, mode="eval").body:
            case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
                return len(parts) == 1 + outputs(name)
            case _:
                return False
    encoding = metadata(name).get("retval", {}).get("type", "@")
    return encoding not in RESULTS or RESULTS[encoding] == annotation


def test_arguments_of_pyobjcs_table_are_counted_as_in_names() -> None:
    for selector, owners in extract()["selectors"].items():
        for data in owners.values():
            numbers = [int(number) - 1 for number in data.get("arguments", {})]
            assert max(numbers, default=0) <= selector.count(":")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_call_fits_its_selector(file: Path) -> None:
    assert list(misfits(parse(file))) == []


def misfits(tree: ast.AST) -> Iterator[str]:
    """Calls of selectors that do not exist, or with the wrong number of arguments or results."""
    selectors = set(declared()) - PYTHON
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=arguments, keywords=keywords):
                is_selector = name in selectors or re.fullmatch(r"[a-z]\w*_", name)
                if is_selector and name not in KNOWN:
                    yield f"{name} is not pyobjc's"
                elif is_selector and (len(arguments) != name.count("_") or keywords):
                    yield f"{name} with {len(arguments)} arguments"
            case ast.Assign(targets=[target], value=ast.Call(func=ast.Attribute(attr=name))):
                count = len(target.elts) if isinstance(target, ast.Tuple) else 1
                if name in selectors and count != 1 + outputs(name):
                    yield f"{name} with {count} results"
            case _:
                continue


@pytest.mark.parametrize(
    ("code", "misfit"),
    [
        ("raw.newBufferWithSize_options_(4, 0)", "newBufferWithSize_options_ is not pyobjc's"),
        ("raw.supportsFamily_()", "supportsFamily_ with 0 arguments"),
        ("commands.commit(1)", "commit with 1 arguments"),
        (
            "made = raw.newComputePipelineStateWithFunction_error_(function, None)",
            "newComputePipelineStateWithFunction_error_ with 1 results",
        ),
    ],
)
def test_a_misfit_is_found(code: str, misfit: str) -> None:
    assert list(misfits(ast.parse(code))) == [misfit]


def test_calls_are_found_at_all() -> None:
    called = {
        node.func.attr
        for file in FILES
        for node in ast.walk(parse(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert set(declared()) <= called


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_constant_of_metal_exists(file: Path) -> None:
    """As an attribute or as a text; what is no number is listed here."""
    others = {"MTLCompileOptions", "MTLGPUFamily", completion.DOMAIN}
    used = {
        name
        for node in ast.walk(parse(file))
        for name in names_of_metal(node)
        if name not in extract()["functions"]
    }
    assert used <= set(extract()["constants"]) | others


def names_of_metal(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and node.attr.startswith("MTL"):
        yield node.attr
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from [node.value] if re.fullmatch(r"MTL\w+", node.value) else []


def test_the_tables_of_the_runtime_name_constants() -> None:
    names = [*completion.ERRORS]
    names += [family for need in requirements.NEEDS.values() for family in need.families]
    names += requirements.MATRICES.families
    assert {name for name in names if name not in extract()["constants"]} == set()


def test_versions_of_the_language_are_spelled_by_their_numbers() -> None:
    for major, minor in requirements.NEEDS:
        number = requirements.language_number((major, minor))
        assert number == constant(f"MTLLanguageVersion{major}_{minor}")


def offered() -> dict[str, Described]:
    return {
        f"{kind.__name__}.{name}": method
        for module in SIMULATED
        for kind in vars(module).values()
        if isinstance(kind, type)
        for name, method in vars(kind).items()
        if isinstance(method, Described)
    }


@pytest.mark.parametrize("path", sorted(offered()))
def test_the_simulation_offers_what_pyobjc_has(path: str) -> None:
    name = path.partition(".")[2]
    function = offered()[path].function
    assert name in KNOWN
    assert function.__code__.co_argcount - 1 == name.count("_")
    assert result_is_right(name, function.__annotations__["return"])


def test_the_simulation_offers_all_that_the_runtime_declares() -> None:
    names = {path.partition(".")[2] for path in offered()} | PYTHON | {"alloc", "processInfo"}
    assert set(declared()) <= names


def test_structs_have_pyobjcs_fields() -> None:
    assert list(arguments.MTLSize._fields) == extract()["structs"]["MTLSize"]


def test_the_simulated_gpu_is_of_real_families() -> None:
    names = ("MTLGPUFamilyApple7", "MTLGPUFamilyMac2", "MTLGPUFamilyMetal3")
    assert frozenset(map(constant, names)) == M1_FAMILIES
