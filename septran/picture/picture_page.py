"""The page: a picture for each mapping, side by side, as HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from eas.septran.picture.contents import Contents, KernelPicture, Line, Row, TaskNode
from eas.septran.picture.lights import Links
from eas.septran.picture.memory_svg import draw_memories, show_bytes

# The page loads nothing: what is on it is all there is.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def make_page(pictures: Sequence[Contents]) -> str:
    """The whole page for some mappings of one operator."""
    folder = files("eas.septran.picture")
    style, script = ((folder / name).read_text("utf-8") for name in ("page.css", "page.js"))
    title = escape(f"{pictures[0].tree.task}: {', '.join(each.machine.name for each in pictures)}")
    is_one_size = all(each.sizes == pictures[0].sizes for each in pictures)
    sizes = _sizes(pictures[0]) if is_one_size else "sizes differ, and stand beside the mappings"
    body = "\n".join(
        _panel(each, n, "" if is_one_size else f" · {_sizes(each)}")
        for n, each in enumerate(pictures)
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(pictures[0].tree.task)}</h1>\n<p>{sizes}</p></header>\n"
        f"{_places(pictures)}\n<main>\n{body}\n</main>\n"
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _sizes(contents: Contents) -> str:
    each = [f"{escape(name)}&nbsp;=&nbsp;{size}" for name, size in contents.sizes.items()]
    sizes = " · ".join(each)
    return f'<span class="sizes">{sizes}</span>'


def _places(pictures: Sequence[Contents]) -> str:
    """Where each tensor lies, by machine: what a reader wants to know first."""
    names = list(
        dict.fromkeys(
            row.name for each in pictures for kernel in each.kernels for row in kernel.rows
        )
    )
    head = "".join(f'<th scope="col">{escape(each.machine.name)}</th>' for each in pictures)
    lines = [
        f'<tr tabindex="0" {Links(0, pictures[0]).tensor(name)}><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{_place(name, each)}</td>" for each in pictures)
        + "</tr>"
        for name in names
    ]
    return (
        '<section class="places"><h2>Where each tensor lies</h2><div class="scroll"><table>'
        f'<thead><tr><th scope="col">tensor</th>{head}</tr></thead><tbody>{"".join(lines)}</tbody>'
        "</table></div></section>"
    )


def _place(name: str, contents: Contents) -> str:
    rows = [row for kernel in contents.kernels for row in kernel.rows if row.name == name]
    return "<br>".join(_chain(row, contents) for row in rows) or '<span class="none">–</span>'


def _chain(row: Row, contents: Contents) -> str:
    chips: list[str] = []
    for number, box in enumerate(row.boxes):
        kind = contents.machine.mems[box.memory].kind
        slots = f" ×{box.slots}" if box.slots > 1 else ""
        size = f" <small>{show_bytes(box.bytes)}</small>" if kind != "global" else ""
        chip = f'<span class="chip {kind}">{escape(box.memory)}{slots}{size}</span>'
        if number:  # an arrow stays with what it leads to, where a line is broken
            arrow = f'<span class="to"> {_direction(row, box.name)} </span>'
            chip = f' <span class="hop">{arrow}{chip}</span>'
        chips.append(chip)
    return "".join(chips)


def _direction(row: Row, name: str) -> str:
    """Whether a buffer is copied to, from, or both: to and from those before it."""
    names = [box.name for box in row.boxes]
    before = names[: names.index(name)]
    is_filled = any(arrow.target == name and arrow.source in before for arrow in row.arrows)
    is_stored = any(arrow.source == name and arrow.target in before for arrow in row.arrows)
    return "⇄" if is_filled and is_stored else "←" if is_stored else "→"


def _panel(contents: Contents, number: int, sizes: str) -> str:
    links = Links(number, contents)
    kernels = "".join(_kernel(each, contents, links) for each in contents.kernels)
    flat = "".join(_flat(each, links) for each in contents.kernels)
    files_text = "".join(_file(contents, n, links) for n in range(len(contents.files)))
    return (
        f'<article class="panel" aria-labelledby="panel{number}">'
        f'<h2 id="panel{number}">{escape(contents.machine.name)} <small>{escape(contents.title)}, '
        f"{escape(contents.dtype)}{sizes}</small></h2>\n"
        f'<h3>Tasks</h3><ul class="tree">{_task(contents.tree, contents, links)}</ul>\n'
        f'{kernels}<div class="beside"><div><h3>Flat IR</h3>{flat}</div>'
        f"<div><h3>Mapping</h3>{files_text}</div></div></article>"
    )


def _task(node: TaskNode, contents: Contents, links: Links) -> str:
    inner = "".join(_task(each, contents, links) for each in node.children)
    below = f"<ul>{inner}</ul>" if inner else ""
    places = "".join(
        f'<span class="chip {_kind(memory, contents)}">{escape(name)}: {escape(memory)}</span>'
        for name, memory in node.places
    )
    numbers = "".join(
        f'<span class="number">{escape(name)} {escape(value)}</span>'
        for name, value in node.numbers
    )
    leaf = " leaf" if node.is_leaf else ""
    proc = f'<span class="proc">{escape(node.proc)}</span>' if node.instance else ""
    focus = 'tabindex="0"' if node.instance else ""
    return (
        f'<li><div class="task{leaf}" {focus} {links.task(node.lines)}><b>{escape(node.task)}</b> '
        f"{proc}{places}{numbers}</div>{below}</li>"
    )


def _kind(memory: str, contents: Contents) -> str:
    known = contents.machine.mems.get(memory)
    return "none" if known is None else known.kind


def _kernel(kernel: KernelPicture, contents: Contents, links: Links) -> str:
    head = f"grid {escape(kernel.grid)}, {kernel.threads} thread{'s' * (kernel.threads != 1)}"
    return (
        f"<h3>Memories <small>{head}</small></h3>{draw_memories(kernel, contents.machine, links)}"
        '<p class="hint">An arrow is a copy: its bytes, and how often it runs.</p>\n'
    )


def _flat(kernel: KernelPicture, links: Links) -> str:
    lines = "".join(_lines(kernel.lines, links))
    return (
        f'<p class="file">{escape(kernel.name)}; beside each line is that of the mapping</p>'
        f'<ol class="code flat">{lines}</ol>\n'
    )


def _lines(lines: Sequence[Line], links: Links) -> Iterator[str]:
    for line in lines:
        text = f'<code style="--depth:{line.depth}">{escape(line.text)}</code>'
        if line.is_end:
            yield f'<li><span class="cause"></span>{text}</li>'
            continue
        cause = "" if line.yaml is None else f":{line.yaml.line}"
        because = escape(line.because, quote=True)
        yield (
            f'<li tabindex="-1" title="because {because}" {links.op(line.number, line.yaml)}>'
            f'<span class="cause">{cause}</span>{text}</li>'
        )


def _file(contents: Contents, number: int, links: Links) -> str:
    source = contents.files[number]
    lines = "".join(
        f'<li tabindex="-1" {links.yaml_line(number, n)}><code>{escape(text.rstrip())}</code></li>'
        for n, text in enumerate(source.lines, 1)
    )
    return f'<p class="file">{escape(source.name)}</p><ol class="code yaml">{lines}</ol>'
