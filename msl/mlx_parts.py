"""A Metal text in the parts that MLX wants: `mx.fast.metal_kernel` writes the signature itself."""

from __future__ import annotations

import re

from eas.msl.kernel import MslKernel
from eas.support.records import frozen

_KERNEL = re.compile(
    r"(?P<header>.*?)^kernel void \w+\((?P<parameters>.*?)\) \{\n(?P<body>.*)^\}\s*\Z",
    re.MULTILINE | re.DOTALL,
)
_PARAMETER = re.compile(
    r"(?P<type>.*?)\s*(?P<name>\w+) \[\[(?P<attribute>\w+)(\((?P<index>\d+)\))?\]\]"
)


@frozen
class MlxParts:
    """`source` is the body, `header` stands before the kernel.

    `names` are those of the buffers by index, `atomic` the indices of arrays of atomics.
    """

    header: str
    source: str
    names: dict[int, str]
    atomic: frozenset[int]


def split(kernel: MslKernel) -> MlxParts:
    """The parts of a kernel's text.

    MLX gives the kernel its positions under the names of Metal's attributes; the first lines of the
    body give them our names.
    """
    found = _KERNEL.fullmatch(kernel.text)
    assert found is not None
    names: dict[int, str] = {}
    atomic: set[int] = set()
    lines: list[str] = []
    for text in found["parameters"].split(",\n"):
        parameter = _PARAMETER.fullmatch(text.strip())
        assert parameter is not None, text
        name, attribute = parameter["name"], parameter["attribute"]
        if attribute == "buffer":
            index = int(parameter["index"])
            names[index] = name
            if "atomic" in parameter["type"]:
                atomic.add(index)
        elif name != attribute:
            lines.append(f"    const {parameter['type']} {name} = {attribute};\n")
    return MlxParts(found["header"], "".join(lines) + found["body"], names, frozenset(atomic))
