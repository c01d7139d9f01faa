"""Records: classes that are made of named fields, like dataclasses, but cost little to define.

`dataclasses` compiles every method of every class from a text of its own, which was more than half
of the time that `import eas` took. Here `__init__` is compiled once for all classes with so many
fields; a class gets that code with the names of its fields put in. The other methods are closures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import Any, Generic, TypeVar, cast, dataclass_transform, overload

T = TypeVar("T")

_NONE: Any = object()


class _Made(Generic[T]):
    """A default that is made anew for every record."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], T]) -> None:
        self.make = make


class _Field:
    """What there is to know about a field besides its name and type."""

    __slots__ = ("compare", "default", "init", "kw_only")

    def __init__(self, default: object, init: bool, compare: bool, kw_only: bool) -> None:
        self.default = default
        self.init = init
        self.compare = compare
        self.kw_only = kw_only


def field(
    *,
    default: Any = _NONE,
    default_factory: Callable[[], Any] | None = None,
    init: bool = True,
    compare: bool = True,
    kw_only: bool = False,
) -> Any:
    """A field with a default that is made for each record, or that differs otherwise."""
    return _Field(_Made(default_factory) if default_factory else default, init, compare, kw_only)


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool = True, slots: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, /, *, eq: bool = True, slots: bool = True) -> Any:
    """A record whose fields are not assigned again, and that is hashed by them.

    The type checker sees to it. A check at run time too, as `dataclasses` have it, would make a
    record take five times as long to make, and a compile makes tens of thousands.
    """

    def decorate(cls: type[T]) -> type[T]:
        is_hashed = eq and not {"__eq__", "__hash__"} & vars(cls).keys()
        return _define(cls, eq, slots, False, is_hashed)

    return decorate if cls is None else decorate(cls)


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(
    *, eq: bool = True, slots: bool = False, kw_only: bool = False
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(field,))
def record(
    cls: type[T] | None = None, /, *, eq: bool = True, slots: bool = False, kw_only: bool = False
) -> Any:
    """A record that may be changed; with `eq=False` one is equal to itself only."""

    def decorate(cls: type[T]) -> type[T]:
        return _define(cls, eq, slots, kw_only, False)

    return decorate if cls is None else decorate(cls)


def replace(record: T, /, **changes: Any) -> T:
    """The record with some fields changed, as a new one."""
    cls: Any = type(record)
    for name in cls.__init_names__:
        if name not in changes:
            changes[name] = getattr(record, name)
    return cls(**changes)


def _define(cls: type[T], eq: bool, slots: bool, kw_only: bool, is_hashed: bool) -> type[T]:
    own = [name for name, of in cls.__annotations__.items() if not of.startswith("ClassVar")]
    fields: dict[str, _Field] = dict(getattr(cls, "__record_fields__", {}))
    fields.update((name, _take_field(cls, name, kw_only)) for name in own)
    added: dict[str, object] = {"__record_fields__": fields, **_init(fields, cls)}
    added["__repr__"] = _repr
    if eq:
        parts = _parts_of([name for name, each in fields.items() if each.compare])
        added["__eq__"] = _equality(parts)
        added["__hash__"] = _hashing(parts) if is_hashed else None
    namespace = vars(cls)
    added = {name: value for name, value in added.items() if name not in namespace}
    if slots:
        return _with_slots(cls, own, added)
    for name, value in added.items():
        setattr(cls, name, value)
    return cls


def _take_field(cls: type[Any], name: str, kw_only: bool) -> _Field:
    """The field of a name; of what stood for it in the class, a plain default stays there."""
    given = vars(cls).get(name, _NONE)
    if not isinstance(given, _Field):
        return _Field(given, True, True, kw_only)
    if given.default is _NONE or isinstance(given.default, _Made):
        delattr(cls, name)
    else:
        setattr(cls, name, given.default)
    given.kw_only |= kw_only
    return given


def _with_slots(cls: type[T], own: Sequence[str], added: dict[str, object]) -> type[T]:
    """The class anew: a class has slots from the start, or not at all."""
    left_out = {"__dict__", "__weakref__", *own}
    namespace = {name: value for name, value in vars(cls).items() if name not in left_out}
    made = type(cls)(cls.__name__, cls.__bases__, {**namespace, **added, "__slots__": tuple(own)})
    made.__qualname__ = cls.__qualname__
    return cast(type[T], made)


def _init(fields: dict[str, _Field], cls: type[Any]) -> dict[str, object]:
    """`__init__`, and the order in which it takes the fields."""
    given = {name: each for name, each in fields.items() if each.init}
    positional = tuple(name for name, each in given.items() if not each.kw_only)
    names = (*positional, *(name for name, each in given.items() if each.kw_only))
    made = [n for n, name in enumerate(names) if isinstance(fields[name].default, _Made)]
    only_last = made == [len(names) - 1]
    checked = 0 if not made else 1 if only_last else len(names)
    shared = _init_code(len(names), checked, hasattr(cls, "__post_init__"))
    code = shared.replace(
        co_names=_renamed(shared, names),
        co_varnames=("self", *names),
        co_argcount=1 + len(positional),
        co_kwonlyargcount=len(names) - len(positional),
    )
    defaults = {name: fields[name].default for name in names if fields[name].default is not _NONE}
    in_order = tuple(defaults[name] for name in positional if name in defaults)
    for name in positional[len(positional) - len(in_order) :]:
        if name not in defaults:
            raise TypeError(f"`{name}` of {cls.__name__} has no default, but one before it has")
    init = FunctionType(code, _GLOBALS, "__init__", in_order)
    init.__kwdefaults__ = defaults
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return {"__init__": init, "__init_names__": names, "__match_args__": positional}


def _parts_of(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The fields of a record that are compared, as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda record: ()
    get = attrgetter(*names)
    return lambda record: (get(record),)


def _equality(parts: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: Any) -> Any:
        is_same = other.__class__ is self.__class__
        return parts(self) == parts(other) if is_same else NotImplemented

    return __eq__


def _hashing(parts: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(parts(self))

    return __hash__


@recursive_repr()
def _repr(self: Any) -> str:
    fields: dict[str, _Field] = self.__record_fields__
    shown = [name for name, each in fields.items() if each.compare]
    inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{type(self).__qualname__}({inner})"


_GLOBALS: dict[str, Any] = {"Made": _Made}


def _renamed(code: CodeType, fields: Sequence[str]) -> tuple[str, ...]:
    """The names that a code uses, with those of the fields instead of its own."""
    names = dict(zip(_placeholders(len(fields)), fields, strict=True))
    return tuple([names.get(name, name) for name in code.co_names])


def _placeholders(count: int) -> list[str]:
    return [f"field_{n}" for n in range(count)]


@cache
def _init_code(count: int, checked: int, has_post_init: bool) -> CodeType:
    """An `__init__` that asks of so many of its last fields whether they are made anew."""
    names = _placeholders(count)
    plain = count - checked
    body = [f"self.{name} = {name}" for name in names[:plain]]
    value = "self.{0} = {0}.make() if type({0}) is Made else {0}"
    body += [value.format(name) for name in names[plain:]]
    body += ["self.__post_init__()"] if has_post_init else []
    return _compiled("__init__", ["self", *names], body)


def _compiled(name: str, parameters: Sequence[str], body: Sequence[str]) -> CodeType:
    lines = [f"def {name}({', '.join(parameters)}):", *(body or ["pass"])]
    found: dict[str, Any] = {}
    exec("\n    ".join(lines), found)
    return found[name].__code__
