"""Factors of a product that do not fit, or are no matrices of floats, or too long ones of bytes."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def products(a, out):
    row = mk.arange(0, 16)
    tile = mk.load(a, row[:, None] * 8 + mk.arange(0, 8)[None, :])
    mk.store(out, 0, mk.sum(mk.dot(tile, tile)))
    mk.store(out, 1, mk.sum(mk.dot(tile, row)))
    mk.store(out, 2, mk.sum(mk.dot(row[:, None], row[None, :])))
    mk.store(out, 3, mk.sum(mk.dot(tile, mk.trans(tile.to(mk.f64)))))
    tall = mk.full((1025, 16), 1, mk.i8)
    mk.store(out, 4, mk.sum(mk.dot(mk.trans(tall), tall)))


CASE = Broken(products, "*f32", "*f32")
