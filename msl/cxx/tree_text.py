"""The C++ tree as text, for people: its statements, its expressions, which of them get a name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from eas.msl.cxx.names import identifier, unique
from eas.msl.cxx.temporaries import place_temporaries
from eas.msl.cxx.tree import (
    Act,
    Block,
    Branch,
    Declare,
    ElementLoop,
    Loop,
    Node,
    Set,
    Shared,
    Statement,
    Test,
    Variable,
    walk_nodes,
)
from eas.msl.ops.dtypes import type_name
from eas.msl.ops.text import Text
from eas.support.records import record

_INDENT = "  "


def print_tree(
    root: Block, nodes: Sequence[Node], arrays: Sequence[Shared], taken: Collection[str]
) -> str:
    """The statements of a tree, each below the expressions that are made before it.

    An expression is `#number`, a literal or a variable stands for itself. Those that become named
    temporaries are marked; the others are printed inline, or nothing uses them. No variable gets a
    name that is `taken`, such as that of an argument.
    """
    _name_all(root, arrays, set(taken))
    made: dict[tuple[Block, int], list[Node]] = {}
    for node in nodes:
        made.setdefault((node.scope, node.made), []).append(node)
    place_temporaries(root, list(nodes))
    return "\n".join(_TreePrinter(made).block(root, "")) + "\n"


def _name_all(root: Block, arrays: Sequence[Shared], taken: set[str]) -> None:
    """Gives variables and arrays the names of their hints, which need not be legal C++."""
    variables: dict[Variable, None] = {}
    for _, _, statement in walk_nodes(root):
        match statement:
            case Declare():
                variables[statement.variable] = None
            case Loop():
                variables.update(dict.fromkeys(statement.counters))
            case ElementLoop():
                variables.update(dict.fromkeys((statement.element, statement.slot)))
            case _:
                pass
    for each in (*arrays, *variables):
        each.name = unique(identifier(each.hint) or "value", taken)
        taken.add(each.name)


@record
class _TreePrinter:
    """Prints blocks. `made` has the expressions of each block, by the statement that they precede.

    These are the blocks and statements of the builder: placing temporaries moves expressions.
    """

    made: dict[tuple[Block, int], list[Node]]

    def block(self, block: Block, indent: str) -> Iterator[str]:
        for index in range(len(block.statements) + 1):
            for node in self.made.get((block, index), ()):
                if _is_numbered(node):
                    yield f"{indent}{self.definition(node)}"
            if index < len(block.statements):
                yield from self.statement(block.statements[index], indent)

    def definition(self, node: Node) -> str:
        how = "named" if node.is_named else "inline" if node.is_live else "unused"
        name = f" {node.hint}" if node.hint else ""
        text = node.spell([self.text(operand) for operand in node.operands]).text
        return f"#{node.order}{name}: {type_name(node.dtype)} = {text}  ({how})"

    def text(self, node: Node) -> Text:
        if _is_numbered(node):
            return Text(f"#{node.order}")
        return node.spell([self.text(operand) for operand in node.operands])

    def statement(self, statement: Statement, indent: str) -> Iterator[str]:
        texts = [self.text(operand) for operand in statement.operands]
        yield f"{indent}{_head(statement, texts)}"
        for number, block in enumerate(statement.blocks):
            if number and block.statements:
                yield f"{indent}else"
            yield from self.block(block, indent + _INDENT)


def _is_numbered(node: Node) -> bool:
    """Whether it has a line: a variable has one if its old value is used after a change."""
    return node.is_named or not node.plain


def _head(statement: Statement, texts: Sequence[Text]) -> str:
    """The first line of a statement, from the texts of its operands."""
    match statement:
        case Act():
            return statement.spell(texts)
        case Declare():
            first = f" = {texts[0].text}" if texts else ""
            variable = statement.variable
            slots = f"[{variable.slots}]" if variable.slots else ""
            kind = variable.kind or type_name(variable.dtype)
            return f"declare {kind} {variable.name}{slots}{first}"
        case Set():
            pairs = zip(statement.variables, texts, strict=True)
            return "set " + ", ".join(f"{to.name} = {text.text}" for to, text in pairs)
        case Branch():
            return f"{'guard' if statement.is_guard else 'if'} {texts[0].text}"
        case Loop():
            return f"loop {statement.spell(texts)}"
        case Test():
            return f"leave the loop unless {texts[0].text}"
        case ElementLoop():
            element, extent = statement.element.name, statement.extent
            return f"elements {element} of {extent}, threads: {statement.threads}"
        case _:
            raise TypeError(f"{statement} has no line")
