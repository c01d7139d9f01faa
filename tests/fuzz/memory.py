"""Random kernels over blocks that read and write the same two arrays, again and again.

Each is written twice: as a kernel, in which lanes diverge, and for NumPy, which does
every step for all lanes and chooses by masks.
"""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

PROGRAMS = 3
SIZES = (8, 33, 64, 100, 256, 1500)

_HEAD = """\
import eas
from eas import mk


@eas.kernel
def shuffle(x, y, out, n):
    i = mk.arange(0, {size})
    start = mk.program_id(0) * {size}
    a, b, s = mk.load(x, start + i), mk.load(y, start + i), n
"""
_TAIL = """\
    mk.store(out, start + i, a * 3 + b + s)
"""


def write_kernel(random: Random) -> tuple[str, str, int]:
    """The text of a kernel, that for NumPy, and how many elements each of its programs has."""
    size = random.choice(SIZES)
    lines = _Lines(random, size)
    lines.add(random.randrange(4, 16), "    ")
    texts = ("\n".join(found) for found in (lines.found, lines.in_numpy))
    kernel, in_numpy = (_HEAD.format(size=size) + text + "\n" + _TAIL for text in texts)
    return kernel, in_numpy, size


class _Lines:
    def __init__(self, random: Random, size: int) -> None:
        self.random, self.size = random, size
        self.found: list[str] = []
        self.in_numpy: list[str] = []
        self.names = 0
        masks = [f"i < {size // 2}", "i % 3 == 1", "a > 0", "b < 1", f"i < {size}"]
        step = random.randrange(size)
        places = ["i", f"({size} - 1 - i)", f"(i + {step}) % {size}"]
        # So few that loads and stores share them. No two lanes have the same place.
        self.masks, self.places = random.sample(masks, 2), random.sample(places, 2)

    def add(self, count: int, indent: str) -> None:
        for _ in range(count):
            if len(indent) < 12 and self.random.random() < 0.25:
                self.random.choice((self.add_shared, self.add_split, self.add_loop))(indent)
            else:
                kinds = (
                    *(self.load, self.store, self.store, self.exchange, self.again),
                    *(self.compute, self.reduce),
                )
                self.line(self.random.choice(kinds)(), indent)

    def line(self, text: str, indent: str) -> None:
        for found in (self.found, self.in_numpy):
            found += [indent + line for line in text.split("; ")]

    def add_shared(self, indent: str) -> None:
        """What all lanes do."""
        self.line(self.random.choice(["for _ in range(n):", "if s % 2 == 0:"]), indent)
        self.add(self.random.randrange(1, 4), indent + "    ")

    def add_split(self, indent: str) -> None:
        """What some lanes do, once."""
        condition = self.random.choice(self.masks)
        self.found.append(f"{indent}if {condition}:")
        self.in_numpy.append(f"{indent}m = {condition}")
        self.add_masked(self.random.randrange(1, 4), indent, "m")

    def add_loop(self, indent: str) -> None:
        """What lanes do, each as often as one of its numbers says."""
        self.names += 1
        count, k = f"c{self.names}", f"k{self.names}"
        self.line(f"{count} = {self.random.choice('ab')} % 3", indent)
        self.found += [f"{indent}{k} = 0", f"{indent}while {k} < {count}:", f"{indent}    {k} += 1"]
        self.in_numpy.append(f"{indent}for {k} in range(2):")
        self.in_numpy.append(f"{indent}    m = {k} < {count}")
        self.add_masked(self.random.randrange(1, 4), indent, "m", "    ")

    def add_masked(self, count: int, indent: str, mask: str, deeper: str = "") -> None:
        """Statements of some lanes: NumPy's have a mask, and stand in its loop if there is one."""
        for _ in range(count):
            name, array = self.random.choice("ab"), self.random.choice("xy")
            place = self.random.choice(self.places)
            shared = self.random.choice([*self.places, "i // 2", "i % 5"])
            kind = self.random.randrange(3)
            for found, more in ((self.found, ""), (self.in_numpy, f", {mask}")):
                inner = indent + (deeper if more else "    ")
                load = f"mk.load({array}, start + {shared})"
                chosen = f"mk.where({mask}, {load}, {name})" if more else load
                line = (
                    f"{name} = {chosen}",
                    f"mk.store({array}, start + {place}, {name}{more})",
                    f"mk.store({array}, start + {shared}, {load} + 1{more})",
                )[kind]
                found.append(inner + line)

    def load(self) -> str:
        name, array = self.random.choice("ab"), self.random.choice("xy")
        index = self.random.choice([*self.places, *self.places, "i // 2", f"s % {self.size}"])
        return f"{name} = {name} + mk.load({array}, start + {index})"

    def store(self) -> str:
        value, array = self.random.choice("ab"), self.random.choice("xy")
        place, mask = self.random.choice(self.places), self.random.choice(self.masks)
        return f"mk.store({array}, start + {place}, {value}, {mask})"

    def exchange(self) -> str:
        name, array = self.random.choice("ab"), self.random.choice("xy")
        place, mask = self.random.choice(self.places), self.random.choice(self.masks)
        where = f"{array}, start + {place}"
        return f"c = mk.load({where}); mk.store({where}, {name}, {mask}); {name} = c"

    def again(self) -> str:
        """Lanes that share a place read and write the same there."""
        array, place = (
            self.random.choice("xy"),
            self.random.choice(["i // 2", "i % 5", "i % 2 * 3"]),
        )
        where = f"{array}, start + {place}"
        return f"mk.store({where}, mk.load({where}) * 2 + 1)"

    def compute(self) -> str:
        return self.random.choice(
            ["a = a - b", "b = mk.maximum(a, b) - 1", "a = mk.where(i % 2 == 0, a, b)",
             "b = mk.flip(b)", "a, b = b, a", "mk.barrier()"]
        )  # fmt: skip

    def reduce(self) -> str:
        return f"s = s + mk.{self.random.choice(['sum', 'max'])}({self.random.choice('ab')}) % 5"


def run_in_numpy(text: str, x: Array, y: Array, out: Array, n: int) -> None:
    """Each line of the kernel over whole blocks, program after program."""
    body = text[text.index("def ") :]
    for program in range(PROGRAMS):
        scope: dict[str, Any] = {"mk": _functions(program)}
        exec(body, scope)
        scope["shuffle"](x, y, out, n)


def _functions(program: int) -> SimpleNamespace:
    def load(array: Array, offsets: Array) -> Array:
        return array[offsets]

    def store(array: Array, offsets: Array, value: Array, mask: Array | bool = True) -> None:
        chosen = np.broadcast_to(mask, offsets.shape)
        array[offsets[chosen]] = value[chosen]

    return SimpleNamespace(
        arange=lambda start, stop: np.arange(start, stop, dtype=np.int32),
        program_id=lambda axis: np.int32(program),
        load=load,
        store=store,
        barrier=lambda: None,
        maximum=np.maximum,
        where=np.where,
        flip=np.flip,
        sum=lambda a: a.sum(dtype=np.int32),
        max=np.max,
    )
