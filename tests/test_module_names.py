"""No two files have one name and two meanings: who knows one of them knows the other."""

from __future__ import annotations

from collections import defaultdict

from tests.test_layers import REPOSITORY, modules

# The names that several files have, with the one meaning that is common to all of them.
MEANINGS = {
    "__main__": "what `python -m` runs",
    "accumulators": "which blocks are sums of products that registers can hold",
    "all_reduce": "reductions whose result every lane gets",
    "arguments": "the arguments of an operator of SepTran",
    "arithmetic": "the operators of numbers",
    "atomics": "atomic operations on memory",
    "barriers": "where barriers are needed",
    "blocks": "blocks of elements, as the typed IR has them",
    "branches": "how an `if` is lowered",
    "build": "from a text to code that can be loaded",
    "builder": "makes ops of an IR one after the other",
    "calls": "how calls of functions are lowered",
    "codes": "the codes of errors with their titles",
    "conflicts": "which accesses to memory must not be reordered",
    "control": "how branches, loops and their exits are lowered or run",
    "dispatch": "one launch on a device: buffers in, run, buffers out",
    "dtypes": "what a dtype is called there, and which there are",
    "errors": "the exceptions that the package raises",
    "explain": "the command `explain` of a command line",
    "expressions": "the expressions of a language, each kind in turn",
    "facts": "definitions, uses and the like, gathered once for a code generator",
    "functions": "functions of floats that a target lacks",
    "in_place": "when a block may be updated in place",
    "kernel": "a whole kernel: all of its parts put together",
    "lane_control": "which control flow lanes have for themselves",
    "language": "all that code in a language of ours can call",
    "launch": "runs a compiled kernel over a grid",
    "loading": "imports a file of the user's",
    "lockstep_regions": "which regions run in lockstep",
    "loops": "how loops are lowered",
    "lower": "the entry of a lowering from one form to the next",
    "machine": "what is known of the hardware that code is made for",
    "memory": "loads, stores and memory that is allocated",
    "mma": "products of matrices in the registers of a simdgroup",
    "names": "which names are legal, and what they stand for",
    "nodes": "the records that a form consists of",
    "parser": "from the text of an IR to the IR",
    "pipeline": "passes as data",
    "primitives": "what a machine of SepTran can compute by itself",
    "printer": "from a form to its text",
    "races": "accesses without an order between them",
    "ranges": "between which bounds integers lie",
    "reductions": "how reductions are lowered",
    "reports": "how asserts and prints of a kernel get to the user",
    "residency": "what stays in which memory, and for how long",
    "simdgroups": "functions of a simdgroup",
    "spelling": "how an op or an operator is written in a text",
    "task_lang": "the module that a logic imports",
    "text": "a form as text",
    "tree": "statements under loops and branches, before they are text or IR",
    "user_reductions": "reductions by a function of the user's",
    "verify": "checks a function of an IR against its contract",
    "worker": "the process that works for another one",
}


def files_by_name() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in modules().values():
        if path.stem != "__init__":
            found[path.stem].append(str(path.relative_to(REPOSITORY)))
    return {name: sorted(files) for name, files in found.items() if len(files) > 1}


def test_files_of_one_name_have_one_meaning() -> None:
    """A new file gets a name of its own, or one with a meaning that is its own as well."""
    new = {name: files for name, files in files_by_name().items() if name not in MEANINGS}
    assert new == {}


def test_no_meaning_is_written_down_for_a_name_that_one_file_has() -> None:
    assert MEANINGS.keys() - files_by_name().keys() == set()
