"""From the events of the parser to a tree of nodes, within limits.

ruamel has a composer and constructors of its own. This one keeps the end of each key and value,
reports every duplicate key at once, and knows no tag but `!tune`: no file can name Python objects.
An alias stands for a copy of its nodes, and copies count: a small file cannot be a large tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from eas.septran.files.complaints import Complaints, quoted
from eas.septran.files.events import Event, NotYaml, parse_events
from eas.septran.files.nodes import Entry, Items, Map, Node, Plain, Scalar, first_line, is_nothing
from eas.septran.files.offsets import Text
from eas.septran.files.scalars import NumberTooLong, meaning_of
from eas.support.diagnostics import Label
from eas.support.location import Loc
from eas.support.records import replace

DEEPEST = 16
MOST_NODES = 10_000


def compose(text: Text, complaints: Complaints) -> Node | None:
    """The tree of the one document in a text; None where nothing can be made of it."""
    try:
        return _Composer(text, complaints).document()
    except NotYaml as error:
        _complain_about_syntax(text, error, complaints)
    except _GivenUp:
        pass
    return None


def _complain_about_syntax(text: Text, error: NotYaml, complaints: Complaints) -> None:
    context = text.loc(error.context_at, error.context_at + 1)
    secondary = [Label(context, error.context)] if error.context_at >= 0 else []
    is_tab = text.text[error.at : error.at + 1] == "\t"
    help = ["indent with spaces: YAML has no tabs there"] if is_tab else []
    loc = text.loc(error.at, error.at + 1)
    message = f"this is not YAML: {error.problem}"
    complaints.add("S102", message, loc, secondary=secondary, help=help)


class _GivenUp(Exception):
    """What follows is not read; the reason is among the complaints."""


class _Composer:
    def __init__(self, text: Text, complaints: Complaints) -> None:
        self.text = text
        self.complaints = complaints
        self.events = parse_events(text.text)
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.count = 0
        self.depth = 0

    def document(self) -> Node | None:
        node: Node | None = None
        for event in self.events:
            if event.kind == "document":
                self._check_document(event, node)
            elif event.kind != "stream":
                node = self._node(event)
        return node

    def _check_document(self, event: Event, before: Node | None) -> None:
        loc = self.text.loc(event.start, event.start + 1)
        if before is not None:
            self._give_up("S104", "there is a second document in this file", loc)
        if event.version not in ((), (1, 2)):
            version = ".".join(map(str, event.version))
            at = self.text.text.find("%YAML")
            loc = self.text.loc(at, at + len("%YAML"))
            message = f"this file is YAML {version}, and not 1.2"
            self.complaints.add("S104", message, loc, help=["remove the line with `%YAML`"])

    def _give_up(self, code: str, message: str, loc: Loc, notes: Sequence[str] = ()) -> NoReturn:
        self.complaints.add(code, message, loc, notes=notes)
        raise _GivenUp

    def _node(self, event: Event) -> Node:
        before = self.count
        if event.kind == "alias":
            return self._alias(event)
        self._add_to_count(1, self._range(event))
        node = self._scalar(event) if event.kind == "scalar" else self._collection(event)
        if event.anchor:
            self.anchors[event.anchor] = (node, self.count - before)
        return node

    def _value(self, event: Event, key: Loc | None = None) -> Node:
        """A node that is no key: there must be something. Where nothing stands, the key does."""
        node = self._node(event)
        if event.kind == "scalar" and is_nothing(node):
            help = ["remove the key, or write `{}` for a map and `[]` for a list without anything"]
            loc = key if key is not None and event.start == event.end else node.loc
            self.complaints.add("S108", "a value is missing here", loc, help=help)
        return node

    def _range(self, event: Event) -> Loc:
        return self.text.loc(event.start, event.end)

    def _add_to_count(self, nodes: int, loc: Loc) -> None:
        self.count += nodes
        if self.count > MOST_NODES:
            notes = ["an alias counts as all that it stands for"]
            self._give_up("S105", f"this file has more than {MOST_NODES} values", loc, notes)

    def _alias(self, event: Event) -> Node:
        loc = self._range(event)
        if event.anchor not in self.anchors:
            message = f"no anchor {quoted('&' + event.anchor)} ends before this alias"
            self.complaints.add("S104", message, loc)
            return Scalar(None, loc)
        node, size = self.anchors[event.anchor]
        self._add_to_count(size, loc)
        return replace(node, loc=loc)

    def _scalar(self, event: Event) -> Scalar:
        loc = self._range(event)
        self._is_tune(event)
        value = self._meaning(event.text, loc) if event.is_plain else event.text
        return Scalar(value, loc, self._column_of_text(event, loc))

    def _meaning(self, text: str, loc: Loc) -> Plain:
        try:
            return meaning_of(text)
        except NumberTooLong:
            self.complaints.add("S105", f"the number {quoted(text, 24)} has too many digits", loc)
            return 1  # it is right almost everywhere: one complaint is enough

    def _column_of_text(self, event: Event, loc: Loc) -> int | None:
        """Where the characters of a text begin, if they stand there one by one."""
        written = self.text.cut(loc)
        before = len(written) - len(event.text) - event.is_quoted
        is_verbatim = before >= 0 and written[before:].startswith(event.text)
        return loc.column + before if is_verbatim and "\n" not in written else None

    def _is_tune(self, event: Event) -> bool:
        """Whether a value has the tag `!tune`; a complaint about any other tag."""
        if event.tag in ("", "!"):
            return False
        if event.tag == "!tune" and event.kind == "map":
            return True
        message = "`!tune` is followed by a map"
        if event.tag != "!tune":
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")
            message = f"the tag {quoted(shown)} is unknown"
        help = ["the only tag is `!tune`, as in `!tune {type: choice, values: [32, 64]}`"]
        self.complaints.add("S104", message, self._tag_place(event), help=help)
        return False

    def _tag_place(self, event: Event) -> Loc:
        """The word at the start of a value; an anchor may stand before the tag."""
        rest = self.text.text[event.start : event.start + 200]
        start = max(rest.find("!"), 0)
        length = len(rest[start:].split(maxsplit=1)[0]) if rest[start:].strip() else 1
        return self.text.loc(event.start + start, event.start + start + length)

    def _collection(self, event: Event) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            loc = self._range(event)
            self._give_up("S105", f"this is nested more than {DEEPEST} deep", loc)
        is_tune = self._is_tune(event)
        node = self._map(event, is_tune) if event.kind == "map" else self._items(event)
        self.depth -= 1
        return node

    def _items(self, start: Event) -> Items:
        items: list[Node] = []
        while (event := next(self.events)).kind != "end":
            items.append(self._value(event))
        return Items(tuple(items), self._whole(start, items[-1].loc if items else None, event))

    def _map(self, start: Event, is_tune: bool) -> Map:
        entries: dict[str, Entry] = {}
        last: Loc | None = None
        while (event := next(self.events)).kind != "end":
            key = self._node(event)
            value = self._value(next(self.events), key.loc)
            last = value.loc
            name = self._name(key)
            if name is None:
                continue
            if name in entries:
                label = Label(entries[name].key, "first given here")
                message = f"the key {quoted(name)} is given twice"
                self.complaints.add("S103", message, key.loc, secondary=[label])
                continue
            entries[name] = Entry(key.loc, value)
        return Map(entries, self._whole(start, last, event), is_tune)

    def _whole(self, start: Event, last: Loc | None, end: Event) -> Loc:
        """From the first character to the last: a block has no mark of its own at its end."""
        if start.is_flow or last is None:
            return self.text.loc(start.start, end.end)
        first = self.text.loc(start.start, start.start)
        return replace(first, end_line=last.end_line, end_column=last.end_column)

    def _name(self, key: Node) -> str | None:
        value = key.value if isinstance(key, Scalar) else None
        if isinstance(value, str) and value != "<<":
            return value
        message, help = "a key must be a name", list[str]()
        if value == "<<":
            message = "`<<` merges maps in YAML 1.1, and this is YAML 1.2"
            help = ["use `extends: other.map.yaml`"]
        self.complaints.add("S104", message, first_line(key.loc), help=help)
        return None
