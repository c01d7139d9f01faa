"""A tour in one screenful each: Python beside its Metal, a picture, an error, a caught bug.

`uv run python -m examples.tour`
"""

import inspect
import os

import numpy as np
from rich import box
from rich.console import Console, Group
from rich.rule import Rule
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

import eas
from eas import mk
from examples.mandelbrot import SHADES, mandelbrot

SIDE_BY_SIDE = 150  # columns of a terminal that has room for two texts
BACKENDS = ("interpret",) if os.name == "nt" else ("cpu", "interpret")  # those of every machine


@eas.kernel
def relu(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, mask=i < N)
    if v < 0.0:
        v = 0.0
    mk.store(y, i, v, mask=i < N)


@eas.kernel
def clip(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, mask=i < N)
    high = 1
    if v > 2.0:
        high = 0.5 * v
    mk.store(y, i, mk.minimum(v, high), mask=i < N)


def python_beside_metal(width: int) -> Table:
    """The kernel and what it becomes: in two columns, or one below the other."""
    lines, first = inspect.getsourcelines(relu.fn)
    metal = relu.to_msl("*f32", "*f32", "i32", BLOCK=256)
    code = "".join(lines).rstrip()
    wrap = width < 80  # or lines of code would be cut
    python = Syntax(code, "python", line_numbers=True, start_line=first, word_wrap=wrap)
    texts = [python, Syntax(metal.rstrip(), "cpp", word_wrap=wrap)]
    is_wide = width >= SIDE_BY_SIDE
    table = Table(*(["Python", "Metal"] if is_wide else [""]), box=box.SIMPLE, show_header=is_wide)
    for row in [texts] if is_wide else [texts[:1], [""], texts[1:]]:
        table.add_row(*row)
    return table


def results() -> Table:
    """The kernel on the backends that every machine has, against NumPy."""
    x = np.random.default_rng(0).standard_normal(1031, dtype=np.float32)
    table = Table("backend", "relu of 1,031 numbers", box=box.SIMPLE)
    for backend in BACKENDS:
        y = np.zeros_like(x)
        relu(x, y, len(x), BLOCK=256, _backend=backend)
        is_equal = np.array_equal(y, np.maximum(x, 0.0))
        table.add_row(backend, "equal to NumPy's" if is_equal else "NOT equal to NumPy's")
    return table


def picture(width: int, height: int, has_colors: bool, limit: int = 60) -> Text:
    """The Mandelbrot set: every lane leaves its `while` by itself."""
    counts = np.zeros((2 * height, width), np.int32)
    mandelbrot[mk.cdiv(counts.size, 256)](counts, width, 2 * height, LIMIT=limit, BLOCK=256)
    draw = draw_colors if has_colors else draw_characters
    return Text("\n").join(draw(rows, limit) for rows in counts.reshape(height, 2, width))


def draw_colors(rows: np.ndarray, limit: int) -> Text:
    """Two rows of pixels as one of characters: the foreground above, the background below."""
    text = Text()
    for upper, lower in rows.T.tolist():
        text.append("▀", Style(color=shade(upper, limit), bgcolor=shade(lower, limit)))
    return text


def draw_characters(rows: np.ndarray, limit: int) -> Text:
    return Text("".join(SHADES[count * (len(SHADES) - 1) // limit] for count in rows[0].tolist()))


def shade(count: int, limit: int) -> str:
    """From violet over pink to white; black for what never escapes."""
    if count >= limit:
        return "#000000"
    x = (count / limit) ** 0.5
    red, green, blue = min(1.0, 1.7 * x), min(1.0, 1.5 * x * x), min(1.0, 0.25 + x)
    return f"#{int(255 * red):02x}{int(255 * green):02x}{int(255 * blue):02x}"


def compile_error() -> str:
    """What is said of a kernel in which a name has two types."""
    try:
        clip.to_msl("*f32", "*f32", "i32", BLOCK=256)
    except eas.CompileError as error:
        return str(error)
    raise AssertionError("`clip` has a mistake on purpose")


def caught_bug() -> str:
    """What is said of a launch that reads behind the end of an array. The process goes on."""
    x = np.zeros(1000, np.float32)
    try:
        relu(x, np.zeros_like(x), 2000, BLOCK=256, _backend=BACKENDS[0])
    except eas.KernelError as error:
        return str(error)
    raise AssertionError("`x` has no 2000 elements")


def main() -> None:
    console = Console(highlight=False)
    width, has_colors = min(console.width, 78), bool(console.color_system) and not console.no_color
    for title, shown in (
        ("You write Python and review Metal", Group(python_beside_metal(console.width), results())),
        ("Every lane takes its own path through a `while`", picture(width, 20, has_colors)),
        ("A mistake is shown where you wrote it", Text(compile_error())),
        ("`N` was too large: the launch stops, the process goes on", Text(caught_bug())),
    ):
        console.print(Rule(title, align="left"), shown, "", sep="\n")


if __name__ == "__main__":
    main()
