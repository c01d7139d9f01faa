"""Curves over trials as a picture: SVG, without anything to install."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, isfinite, log10

WIDTH, HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 190, 62, 50
_COLORS = ("#0b62c4", "#c4420b", "#2b8a3e", "#7a3fc4", "#a06a00", "#4a5560")


def draw_curves(
    title: str, unit: str, curves: Mapping[str, Sequence[float]], dots: str | None = None
) -> str:
    """A line for each curve; the first value is that after the first trial.

    The curve that is called `dots` is one: a dot for each value. Infinite ones are left out.
    """
    values = [value for curve in curves.values() for value in curve if isfinite(value)]
    low, high = _scale(values)
    longest = max((len(curve) for curve in curves.values()), default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="14" y="24" font-size="15" font-weight="600">{escape(title)}</text>',
        *_axes(low, high, longest, unit),
    ]
    for number, (name, curve) in enumerate(curves.items()):
        color = _COLORS[number % len(_COLORS)]
        places = [
            (f"{_x(n + 1, longest):.1f}", f"{_y(value, low, high):.1f}")
            for n, value in enumerate(curve)
            if isfinite(value)
        ]
        if name == dots:
            parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{color}"/>' for x, y in places]
        else:
            line = f'<polyline fill="none" stroke="{color}" stroke-width="2" points='
            parts.append(f'{line}"{" ".join(map(",".join, places))}"/>')
        y = _TOP + 7 + 20 * number
        size = 'width="6" height="6" rx="3"' if name == dots else 'width="14" height="4"'
        mark = f'<rect x="{WIDTH - 170}" y="{y}" {size} fill="{color}"/>'
        parts += [mark, f'<text x="{WIDTH - 150}" y="{y + 7}">{escape(name)}</text>']
    return "\n".join([*parts, "</svg>", ""])


def _scale(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    step = 10.0 ** floor(log10(high - low)) / 2 if high > low else max(abs(high), 1.0) / 2
    return floor(low / step) * step, max(ceil(high / step) * step, floor(low / step) * step + step)


def _x(trial: float, longest: int) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * (trial - 1) / max(longest - 1, 1)


def _y(value: float, low: float, high: float) -> float:
    return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * (value - low) / (high - low)


def _axes(low: float, high: float, longest: int, unit: str) -> list[str]:
    parts: list[str] = []
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    for n in range(6):
        value = low + (high - low) * n / 5
        y = _y(value, low, high)
        parts.append(
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#dde1e6"/>'
        )
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.4g}</text>')
    for trial in sorted({1, *(max(1, round(longest * n / 4)) for n in range(1, 5))}):
        x = _x(trial, longest)
        parts.append(f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{trial}</text>')
    middle = (_LEFT + right) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 10}" text-anchor="middle">trials</text>')
    parts.append(f'<text x="14" y="{_TOP - 14}">{escape(unit)}</text>')
    return parts
