"""Memories as columns, tensors as rows, buffers as boxes, copies as arrows with their bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from eas.septran.files import Machine
from eas.septran.picture.contents import Arrow, Box, KernelPicture, Row
from eas.septran.picture.lights import Links
from eas.support.records import frozen

NAME, COLUMN, BOX = 92, 240, 134  # widths: of names, of a memory, of a buffer
HEAD, LANE, BOX_HEIGHT, SLOT = 62, 68, 46, 5


@frozen
class _Spot:
    """Where a box is drawn: its upper left corner."""

    x: int
    y: int

    @property
    def right(self) -> int:
        return self.x + BOX

    @property
    def middle(self) -> int:
        return self.y + BOX_HEIGHT // 2


def draw_memories(kernel: KernelPicture, machine: Machine, links: Links) -> str:
    """The SVG of a kernel."""
    used = {box.memory for row in kernel.rows for box in row.boxes}
    memories = [name for name in machine.mems if name in used]
    columns = {name: NAME + COLUMN * n for n, name in enumerate(memories)}
    heights = [_lanes(row) * LANE for row in kernel.rows]
    width = NAME + COLUMN * (len(memories) - 1) + BOX + 20 + 4 * SLOT
    height = HEAD + sum(heights) + 8
    parts = [_column(name, columns[name], height, kernel, machine) for name in memories]
    y = HEAD
    for row, tall in zip(kernel.rows, heights, strict=True):
        parts.append(_row(row, y, tall, width, columns, links))
        y += tall
    label = escape(f"Where the tensors of {kernel.name} lie on {machine.name}", quote=True)
    style = f"min-width:{width * 0.6:.0f}px;max-width:{width * 1.15:.0f}px"
    return (
        f'<div class="scroll"><svg viewBox="0 0 {width} {height}" role="group"'
        f' aria-label="{label}" style="{style}">'
        f"{_MARKERS}{''.join(parts)}</svg></div>"
    )


_MARKERS = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"'
    ' markerHeight="7" orient="auto-start-reverse"><path d="M0 1 10 5 0 9z" class="tip"/>'
    "</marker></defs>"
)


def _lanes(row: Row) -> int:
    """How many boxes of a row are in one memory, at most."""
    counts: dict[str, int] = {}
    for box in row.boxes:
        counts[box.memory] = counts.get(box.memory, 0) + 1
    return max(counts.values())


def _column(name: str, x: int, height: int, kernel: KernelPicture, machine: Machine) -> str:
    memory = machine.mems[name]
    boxes = [box for row in kernel.rows for box in row.boxes if box.memory == name]
    taken = sum(box.bytes for box in boxes)
    note = show_bytes(taken)
    bar = ""
    if memory.capacity is not None and memory.kind != "global":
        note = f"{show_bytes(taken)} of {show_bytes(memory.capacity)}"
        share = min(1.0, taken / memory.capacity)
        bar = (
            f'<rect class="bar" x="{x + 10}" y="46" width="{BOX}" height="5" rx="2.5"/>'
            f'<rect class="fill" x="{x + 10}" y="46" width="{max(2, BOX * share):.0f}" height="5"'
            ' rx="2.5"/>'
        )
    return (
        f'<g class="memory {memory.kind}"><title>{escape(name)}</title>'
        f'<rect class="column" x="{x}" y="2" width="{BOX + 20}" height="{height - 4}" rx="10"/>'
        f'<text class="title" x="{x + 10}" y="22"{_narrowed(name, 12, BOX)}>'
        f"{escape(shorten(name, 15))}</text>"
        f'<text class="note" x="{x + 10}" y="38">{note}</text>{bar}</g>'
    )


def _row(row: Row, y: int, tall: int, width: int, columns: Mapping[str, int], links: Links) -> str:
    taken: dict[str, int] = {}
    spots: dict[str, _Spot] = {}
    for box in row.boxes:
        lane = taken.get(box.memory, 0)
        taken[box.memory] = lane + 1
        spots[box.name] = _Spot(columns[box.memory] + 10, y + lane * LANE + 12)
    boxes = "".join(_box(box, spots[box.name], links) for box in row.boxes)
    arrows = "".join(_arrows(row.arrows, spots, links))
    return (
        f'<g class="tensor" tabindex="0" role="img" aria-label="{_spoken(row)}"'
        f" {links.tensor(row.name)}><title>{escape(row.name)}</title>"
        f'<rect class="lane" x="2" y="{y + 4}" width="{width - 4}" height="{tall - 6}" rx="8"/>'
        f'<text class="name" x="10" y="{y + 40}">{escape(shorten(row.name, 8))}</text>'
        f"{boxes}{arrows}</g>"
    )


def _spoken(row: Row) -> str:
    places = ", ".join(f"{box.name} in {box.memory}" for box in row.boxes)
    return escape(f"{row.name}: {places}", quote=True)


def _box(box: Box, spot: _Spot, links: Links) -> str:
    stack = "".join(
        f'<rect class="box behind" x="{spot.x + n * SLOT}" y="{spot.y - n * SLOT}" width="{BOX}"'
        f' height="{BOX_HEIGHT}" rx="6"/>'
        for n in range(min(box.slots, 4) - 1, 0, -1)
    )
    slots = f"{box.slots} slots, " if box.slots > 1 else ""
    label = shorten(box.name, 15 if box.slots == 1 else 12)  # the slots are beside it
    title = escape(f"{box.name}: {slots}{box.size}, {box.bytes:,} bytes in {box.memory}")
    badge = (
        f'<text class="slots" x="{spot.right - 8}" y="{spot.y + 17}">×{box.slots}</text>'
        if box.slots > 1
        else ""
    )
    return (
        f'<g class="buffer" {links.drawn(box.line, box.yaml)}><title>{title}</title>{stack}'
        f'<rect class="box" x="{spot.x}" y="{spot.y}" width="{BOX}" height="{BOX_HEIGHT}" rx="6"/>'
        f'<text class="label" x="{spot.x + 9}" y="{spot.y + 18}">{escape(label)}'
        f'</text>{badge}<text class="size" x="{spot.x + 9}" y="{spot.y + 35}"'
        f"{_narrowed(box.size, 19, BOX - 18)}>{escape(shorten(box.size, 24))}</text></g>"
    )


def _arrows(arrows: Sequence[Arrow], spots: Mapping[str, _Spot], links: Links) -> Sequence[str]:
    """Arrows of one row; several between the same boxes lie above each other."""
    drawn: list[str] = []
    between: dict[frozenset[str], int] = {}
    for arrow in arrows:
        pair = frozenset((arrow.source, arrow.target))
        number = between.get(pair, 0)
        between[pair] = number + 1
        drawn.append(_arrow(arrow, spots[arrow.source], spots[arrow.target], number, links))
    return drawn


def _arrow(arrow: Arrow, source: _Spot, target: _Spot, number: int, links: Links) -> str:
    shift = -6 + 17 * number
    text = f"{show_bytes(arrow.each)} × {_show_times(arrow.times)}"
    title = escape(
        f"{arrow.source} → {arrow.target}: {arrow.times:,} copies, {arrow.bytes:,} bytes in all"
    )
    if source.x == target.x:
        x, start, end = source.right, source.middle, target.middle
        path = f"M{x} {start}C{x + 30} {start} {x + 30} {end} {x + 3} {end}"
        place, anchor = (x + 26, (start + end) // 2), "start"
    else:
        is_right = target.x > source.x
        start = source.right if is_right else source.x
        end = target.x if is_right else target.right
        low, high = source.middle + shift, target.middle + shift
        path = f"M{start} {low}L{end + (-2 if is_right else 2)} {high}"
        nearest = start if is_right else end
        place, anchor = (nearest + (COLUMN - BOX) // 2, (low + high) // 2 - 5), "middle"
    x, y = place
    return (
        f'<g class="arrow" {links.drawn(arrow.line, arrow.yaml)}><title>{title}</title>'
        f'<path class="hit" d="{path}"/><path class="wire" d="{path}" marker-end="url(#tip)"/>'
        f'<text class="bytes" x="{x}" y="{y}" text-anchor="{anchor}">{text}</text></g>'
    )


def _show_times(times: int) -> str:
    if times < 100_000:
        return f"{times:,}"
    return f"{times / 1e6:.3g}M" if times >= 1_000_000 else f"{times // 1000}k"


def _narrowed(text: str, most: int, width: int) -> str:
    """The attributes of a text of more characters than fit as they are: it is set narrower."""
    return f' textLength="{width}" lengthAdjust="spacingAndGlyphs"' if len(text) > most else ""


def shorten(text: str, most: int) -> str:
    """A text of so many characters at most."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def show_bytes(number: int) -> str:
    """Bytes in the largest unit of which there is one: `24 KiB`, `1.5 MiB`."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= size:
            return (
                f"{number / size:.3g} {unit}"
                if number < 1000 * size
                else f"{number // size} {unit}"
            )
    return f"{number} B"
