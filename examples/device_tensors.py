"""Tensors that stay on a device between launches: `uv run python -m examples.device_tensors`."""

import numpy as np

import eas
from eas import mk
from eas.config import automatic


@eas.kernel
def diffuse(old, new, ROWS, COLUMNS, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    column = mk.program_id(1) * BLOCK + mk.arange(0, BLOCK)
    is_inside = (row > 0) & (row < ROWS - 1) & (column > 0) & (column < COLUMNS - 1)
    if is_inside:
        around = old[row - 1, column] + old[row + 1, column]
        around += old[row, column - 1] + old[row, column + 1]
        new[row, column] = old[row, column] + 0.2 * (around - 4.0 * old[row, column])


def main() -> None:
    device = "metal" if automatic() == "metal" else "cpu"
    rows, columns, steps, block = 64, 96, 50, 128
    heat = eas.zeros((rows, columns), device=device)
    heat[rows // 2, columns // 4 : -columns // 4] = 100.0
    other = eas.tensor(heat, copy=True)
    grid = (rows, -(-columns // block))
    for _ in range(steps):  # nothing is copied between the launches
        diffuse[grid](heat, other, rows, columns, BLOCK=block)
        heat, other = other, heat

    print(heat[rows // 2, ::16])
    print("the warmest row:", int(np.argmax(heat.numpy().sum(axis=1))))
    print(f"on {heat.device}:", eas.memory.stats(device))


if __name__ == "__main__":
    main()
