"""Factors of a product that do not fit or are no floats, too many bytes, a sum of f64."""

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
    mk.store(out, 3, mk.sum(mk.dot(tile, mk.trans(tile), mk.zeros((16, 16), mk.f64))))
    wide = mk.zeros((16, 64))
    mk.store(out, 5, mk.sum(mk.dot(tile, wide, mk.zeros((16, 16)))))
    mk.store(out, 6, mk.sum(mk.dot(tile, mk.trans(tile), mk.zeros((16, 8)))))
    tall = mk.full((1025, 16), 1, mk.i8)
    mk.store(out, 4, mk.sum(mk.dot(mk.trans(tall), tall)))


CASE = Broken(products, "*f32", "*f32")
