"""The IR's text form, printed and parsed: `parse_function(print_function(f)) == f`.

A function is a header and a body; an op is a line, and one with regions ends where they end:

    kernel add(%a.0: *f32, %c.1: *f32, %N.2: i32) from "add.py" where BLOCK=256 {
      %3: i32 = program_id axis=0                                   @7:11-27
      %4: i32[256] = splat %3 shape=[256]                           @8:17-22
      %offs.5: i32[256] = index %4, %4 array="a" axis=0             @8:11-50
      ...
    }

Grammar, with `[x]` for an optional x and `x...` for any number of them with commas between:

    function   "kernel" name "(" param... ")" "from" string
               ["threads" int] ["fast_math"] ["where" (name "=" text)...] region
    param      definition ["=" ("extent" | "stride") int "of" name]
    region     "{" line break, ops, "}"
    definition value ":" type
    value      "%" id, or "%" hint "." id
    type       dtype, dtype "[" int... "]", "*" dtype, "*" dtype "@threadgroup"

    op         [definition... "="] what [place] line break
    what       a number, true, false                              a constant
               opname value... (attribute "=" attr)               a pure op of `eas.ir.ops`
               "load" at ["if" mask "else" other]
               "store" at "=" value ["if" mask]
               "atomic" kind at "," value ["if" mask]
               "atomic" "cas" at "," expected "->" value ["if" mask]
               "alloc" size
               "barrier"
               "assert" condition "," string
               "print" (string | value)...
               "yield" value... , "break" value... , "continue" value... , "leave" label value...
               "condition" condition ["with" value...]
               "if" condition region ["else" region]
               "for" definition "=" start ".." stop "by" step ["carrying" carried] region [orelse]
               "while" [carried] region "do" [arguments] region [orelse]
               "scope" label region
    at         pointer "[" offset "]"
    carried    "(" (definition "=" init)... ")"
    arguments  "(" definition... ")"
    orelse     "else" [arguments] [region]
    attr       int, string, true, false, none, a dtype, "[" int... "]"

    place      "@" spot ("from" spot)*            the place itself, then the calls that led there
    spot       [file ":"] line ":" column "-" [end line ":"] end column

What goes without saying is left out: a place that is nowhere; the file of a place in the function's
own file; and, where its place is that of the op around it (nowhere, for the function's body), a
`yield` of nothing at the end of a region, an `else` that only yields nothing, and the region of a
loop's `else` that only yields its arguments. A `#` starts a comment. Names that are no words are
quoted, as strings are. Files go by their base name: the text is the same on every machine.
"""

from __future__ import annotations

from eas.ir.text.lexer import ParseError
from eas.ir.text.parser import parse_function
from eas.ir.text.printer import print_function, summarize

__all__ = ["ParseError", "parse_function", "print_function", "summarize"]
