"""The IR's text form, printed and parsed: `parse_function(print_function(f)) == f`.

A function is a header and a body; an op is a line, and one with regions ends where they end:

    kernel double(%a.0: *f32, %N.1: i32) from "double.py" where BLOCK=64 {
      %i.2: i32[64] = arange start=0 size=64                          @7:8-25
      %3: i32[64] = splat %N.1 shape=[64]                             @8:7-12
      %4: bool[64] = lt %i.2, %3                                      @8:7-12
      if %4 {                                                         @8:4-9:43
        %v.5: f32[64] = load %a.0[%i.2]                               @9:20-33
        %6: f32[64] = add %v.5, %v.5                                  @9:20-42
        store %a.0[%i.2] = %6                                         @9:8-43
      }
    }

Grammar, with `[x]` for an optional x and `x...` for any number of them with commas between:

    function   "kernel" name "(" param... ")" "from" string
               ["threads" int] ["programs" int] ["fast_math"] ["checked"]
               ["where" (name "=" text)...] region
    param      definition ["=" ("extent" | "stride" | "low" | "high") int "of" name]
    region     "{" line break, ops, "}"
    definition value ":" type
    value      "%" id, or "%" hint "." id
    type       dtype, dtype "[" int... "]", "*" dtype, "*" dtype "@" space
    space      "threadgroup", "tile", "register"

    op         [definition... "="] what [place] line break
    what       a number, true, false                              a constant
               opname value... (attribute "=" attr)               an op of `eas.ir.ops` or a target
               "load" at ["if" mask "else" other]
               "store" at "=" value ["if" mask]
               "atomic" kind at "," value ["if" mask]
               "atomic" "cas" at "," expected "->" value ["if" mask]
               "alloc" size
               "barrier"
               "assert" condition "," string ["fault" kind name value
                   ["of" value "axis" int] ["masked"]]
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
