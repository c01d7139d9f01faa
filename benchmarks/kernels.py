"""The kernels that the benchmarks compile: a short one, and one of a hundred lines."""

import eas
from eas import mk


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, offs, mask), mask)


@eas.kernel
def lattice_boltzmann(
    source,
    target,
    solid,
    speed,
    W,
    H,
    OMEGA: eas.constexpr,
    FASTEST: eas.constexpr,
    BLOCK: eas.constexpr,
):
    """One step of a fluid on a grid: nine directions per cell, read from the neighbours."""
    cell = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    size = W * H
    if cell >= size:
        return
    x = cell % W
    y = cell // W

    # The neighbours; the grid is closed in both directions.
    east = x + 1
    if east == W:
        east = 0
    west = x - 1
    if west < 0:
        west = W - 1
    north = y + 1
    if north == H:
        north = 0
    south = y - 1
    if south < 0:
        south = H - 1

    # What flows in.
    rest = mk.load(source, cell)
    e = mk.load(source, 1 * size + y * W + west)
    n = mk.load(source, 2 * size + south * W + x)
    w = mk.load(source, 3 * size + y * W + east)
    s = mk.load(source, 4 * size + north * W + x)
    ne = mk.load(source, 5 * size + south * W + west)
    nw = mk.load(source, 6 * size + south * W + east)
    sw = mk.load(source, 7 * size + north * W + east)
    se = mk.load(source, 8 * size + north * W + west)

    if mk.load(solid, cell):
        # A wall sends everything back to where it came from.
        e, w = w, e
        n, s = s, n
        ne, sw = sw, ne
        nw, se = se, nw
        mk.store(speed, cell, 0.0)
    else:
        density = rest + e + n + w + s + ne + nw + sw + se
        ux = (e + ne + se - w - nw - sw) / density
        uy = (n + ne + nw - s - se - sw) / density
        square = ux * ux + uy * uy
        if square > FASTEST * FASTEST:
            brake = FASTEST * mk.rsqrt(square)
            ux *= brake
            uy *= brake
            square = FASTEST * FASTEST

        # Towards the balance of this density and velocity.
        still = 1.0 - 1.5 * square
        main = density / 9.0
        slant = density / 36.0
        plus = ux + uy
        minus = ux - uy
        rest_goal = 4.0 * main * still
        e_goal = main * (still + 3.0 * ux + 4.5 * ux * ux)
        n_goal = main * (still + 3.0 * uy + 4.5 * uy * uy)
        w_goal = main * (still - 3.0 * ux + 4.5 * ux * ux)
        s_goal = main * (still - 3.0 * uy + 4.5 * uy * uy)
        ne_goal = slant * (still + 3.0 * plus + 4.5 * plus * plus)
        nw_goal = slant * (still - 3.0 * minus + 4.5 * minus * minus)
        sw_goal = slant * (still - 3.0 * plus + 4.5 * plus * plus)
        se_goal = slant * (still + 3.0 * minus + 4.5 * minus * minus)

        # Strongly disturbed cells come to rest more slowly.
        stress = mk.abs(ne_goal - ne) + mk.abs(nw_goal - nw)
        stress += mk.abs(sw_goal - sw) + mk.abs(se_goal - se)
        omega = OMEGA
        for _ in range(3):
            omega = OMEGA / (1.0 + stress * omega)

        rest += omega * (rest_goal - rest)
        e += omega * (e_goal - e)
        n += omega * (n_goal - n)
        w += omega * (w_goal - w)
        s += omega * (s_goal - s)
        ne += omega * (ne_goal - ne)
        nw += omega * (nw_goal - nw)
        sw += omega * (sw_goal - sw)
        se += omega * (se_goal - se)
        mk.store(speed, cell, mk.sqrt(square))

    mk.store(target, cell, rest)
    mk.store(target, 1 * size + cell, e)
    mk.store(target, 2 * size + cell, n)
    mk.store(target, 3 * size + cell, w)
    mk.store(target, 4 * size + cell, s)
    mk.store(target, 5 * size + cell, ne)
    mk.store(target, 6 * size + cell, nw)
    mk.store(target, 7 * size + cell, sw)
    mk.store(target, 8 * size + cell, se)
