"""Lines with wide characters and tabs. Below each mistake stand its place and its code."""

import eas
from eas import mk


@eas.kernel(examples=[("*f32[:]", "f32")])
def greek(x, α):
    x[0] = α * β
#              ^ E0201


@eas.kernel(examples=[("*f32[:]", "f32")])
def behind_wide_characters(x, v):
    x[0] = (1.0 if "日本" == "𝒳𝒴" else 2.0) + missing
#                                           ^^^^^^^ E0201


@eas.kernel(examples=[("*f32[:]", "f32")])
def with_tabs(x, v):
	x[0] = v	+	missing
#           ^^^^^^^ E0201


@eas.kernel(examples=[("*f32[:]", "f32")])
def misspelled_behind_an_emoji(x, v):
    assert v > 0.0, "🚀 é"; x[0] = mk.exq(v)
#                                    ^^^ E0205


@eas.kernel(examples=[("*f32[:]", "f32")])
def combining_marks(x, é):
    x[0] = é + é2
#              ^^ E0201


@eas.kernel(examples=[("*f32[:]", "f32")])
def two_on_one_line(x, v):
    x[0] = first + v; x[1] = "ß" * second
#          ^^^^^ E0201
#                                  ^^^^^^ E0201
