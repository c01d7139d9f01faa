"""The language server, over the pipes of a real process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eas.cli import main
from eas.lsp.vocabulary import open_call
from tests.editor.client import Client, Message, edited
from tests.editor.test_check import HEAD, WRONG
from tests.processes import is_alive, wait_until
from tests.thorough import sampled

KERNEL = """\
BLOCK = 64


def twice(x):
    return x * 2.0


@eas.kernel(examples=[("*f32", "*f32[:, :]", "i32", dict(SIZE=BLOCK))])
def scale(a, b, N, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    v = twice(mk.load(a, i, mask=i < N))
    total, k = mk.sum(v), 3
    mk.store(b, i, v / total, mask=i < N)
"""
TEXT = HEAD + KERNEL


@pytest.fixture(scope="module")
def server() -> Iterator[Client]:
    with Client() as client:
        yield client


@pytest.fixture
def client(server: Client) -> Iterator[Client]:
    """A client of one server for all tests, without open documents."""
    yield server
    server.close_all()


def opened(client: Client, folder: Path, saved: str, text: str | None = None) -> str:
    file = folder / "kernels.py"
    file.write_text(saved, "utf-8")
    return client.open(file, text)


def place(text: str, part: str, number: int = 0) -> tuple[int, int]:
    """The line and the character of a part of a text, counted from 0."""
    offset = -1
    for _ in range(number + 1):
        offset = text.index(part, offset + 1)
    before = text[:offset]
    return before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2


def hover(client: Client, uri: str, text: str, part: str, number: int = 0) -> str | None:
    answer = client.at("textDocument/hover", uri, *place(text, part, number))
    return answer and answer["contents"]["value"]


def typed(name: str, what: str) -> str:
    return f"```python\n{name}: {what}\n```"


def test_a_session_types_a_mistake_and_fixes_it(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    assert client.diagnostics(uri) == []
    wrong = TEXT.replace("mk.sum(v)", "mk.summ(v)")
    client.type(uri, wrong)
    [diagnostic] = client.diagnostics(uri)
    line, character = place(wrong, "summ")
    assert diagnostic["range"] == {
        "start": {"line": line, "character": character},
        "end": {"line": line, "character": character + 4},
    }
    assert (diagnostic["code"], diagnostic["source"]) == ("E0205", "eas")
    [action] = client.actions(uri, diagnostic)
    assert action["title"] == "did you mean `mk.sum`?"
    fixed = edited(wrong, action["edit"]["changes"][uri])
    assert fixed == TEXT
    client.type(uri, fixed)
    assert client.diagnostics(uri) == []


@pytest.mark.parametrize(
    ("part", "number", "name", "what"),
    [
        ("a, b, N", 0, "a", "*f32"),
        ("b, N", 0, "b", "*f32[:, :]"),
        ("N, SIZE", 0, "N", "i32"),
        ("SIZE: eas", 0, "SIZE", "constexpr 64"),
        ("i = mk", 0, "i", "i32[64]"),
        ("v = twice", 0, "v", "f32[64]"),
        ("total, k", 0, "total", "f32"),
        ("k = mk.sum", 0, "k", "constexpr 3"),
        ("total, mask", 0, "total", "f32"),
        ("x * 2.0", 0, "x", "f32[64]"),
        ("twice(mk", 0, "twice", "function twice"),
    ],
)
def test_hover_shows_the_type_of_every_name(
    client: Client, tmp_path: Path, part: str, number: int, name: str, what: str
) -> None:
    uri = opened(client, tmp_path, TEXT)
    client.diagnostics(uri)
    assert hover(client, uri, TEXT, part, number) == typed(name, what)


def test_hover_over_a_function_of_mk_shows_its_signatures_and_its_documentation(
    client: Client, tmp_path: Path
) -> None:
    uri = opened(client, tmp_path, TEXT)
    client.diagnostics(uri)
    text = hover(client, uri, TEXT, "load(a")
    assert text is not None
    assert text.startswith("```python\nmk.load(ptr: Value, offs: Int, mask: Mask = None, ")
    assert ">>> mk.load(x, i)\n[0.0, 1.0, 2.0, 3.0]\n" in text


def test_hover_over_nothing_shows_nothing(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    client.diagnostics(uri)
    assert hover(client, uri, TEXT, "import eas") is None


def test_types_are_shown_behind_assigned_names(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    client.diagnostics(uri)
    every = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    hints = client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": every})
    shown = {
        (TEXT.splitlines()[h["position"]["line"]][: h["position"]["character"]].split()[-1]): h[
            "label"
        ]
        for h in hints
    }
    assert shown == {
        "scale(a": ": *f32",
        "b": ": *f32[:, :]",
        "N": ": i32",
        "i": ": i32[64]",
        "v": ": f32[64]",
        "total": ": f32",
        "k": ": constexpr 3",
    }


def test_a_helper_is_found_where_it_is_defined(client: Client, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("\n\ndef shrink(x):\n    return x / 2.0\n")
    text = TEXT.replace("import eas\n", "import eas\nfrom helper import shrink\n")
    text = text.replace("mk.sum(v)", "shrink(mk.sum(v))")
    uri = opened(client, tmp_path, text)
    client.diagnostics(uri)
    inner = client.at("textDocument/definition", uri, *place(text, "twice(mk"))
    assert (inner["uri"], inner["range"]["start"]["line"]) == (uri, place(text, "def twice")[0])
    outer = client.at("textDocument/definition", uri, *place(text, "shrink(mk"))
    assert outer["uri"] == (tmp_path / "helper.py").as_uri()
    assert outer["range"]["start"] == {"line": 2, "character": 0}
    local = client.at("textDocument/definition", uri, *place(text, "v / total"))
    assert local["range"]["start"]["line"] == place(text, "v = twice")[0]


def test_names_of_mk_are_completed_with_signatures(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    items = client.at("textDocument/completion", uri, *place(TEXT, "sum(v)"))["items"]
    by_name = {item["label"]: item for item in items}
    assert by_name["sum"]["detail"].startswith("mk.sum(")
    assert by_name["f32"]["detail"] == "dtype f32"
    assert "_types" not in by_name


def test_names_of_the_kernel_are_completed_with_types(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    client.diagnostics(uri)
    items = client.at("textDocument/completion", uri, *place(TEXT, "v / total"))["items"]
    assert {(item["label"], item["detail"]) for item in items} >= {
        ("total", "f32"),
        ("v", "f32[64]"),
        ("mk", "module"),
    }


def test_the_signature_of_a_call_is_shown_while_it_is_typed(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    answer = client.at("textDocument/signatureHelp", uri, *place(TEXT, "i < N))"))
    chosen = answer["signatures"][answer["activeSignature"]]
    assert chosen["parameters"][answer["activeParameter"]]["label"] == "mask: Mask = None"


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("mk.load(", ("mk.load", 0, "")),
        ("mk.load(a, f(1, 2), ma", ("mk.load", 2, "")),
        ("mk.load(a, [1, 2", ("mk.load", 1, "")),
        ("mk.load(a, other=x", ("mk.load", 1, "other")),
        ('mk.load(a, "),(", ', ("mk.load", 2, "")),
        ("f(mk.sum(v, (1 + 2", ("mk.sum", 1, "")),
        ("f(x)", None),
        ("x == (1, 2", None),
    ],
)
def test_an_open_call_is_found(text: str, call: tuple[str, int, str] | None) -> None:
    assert open_call(text) == call


def test_metal_is_shown_with_the_lines_behind_it(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    line = place(TEXT, "v / total")[0]
    answer = client.request("eas/metal", {"uri": uri, "line": line})
    assert answer["kernel"] == "scale"
    lines = answer["text"].splitlines()
    assert len(answer["lines"]) == len(lines)
    [store] = [n for n, text in enumerate(lines) if "b[t] =" in text]
    assert answer["lines"][store] == line
    command = {"command": "eas.metal", "arguments": [uri, line]}
    assert client.request("workspace/executeCommand", command) == answer


def test_metal_of_no_kernel_is_an_error_with_words(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    assert client.request("eas/metal", {"uri": uri, "line": 0}) == {
        "error": "there is no kernel at this line"
    }


def test_a_broken_text_keeps_the_last_good_answer(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, TEXT)
    client.diagnostics(uri)
    broken = TEXT.replace("v = twice(", "v = = twice(")
    client.type(uri, broken)
    assert client.codes(uri) == ["syntax"]
    assert hover(client, uri, broken, "i < N))") == typed("i", "i32[64]")
    client.type(uri, TEXT)
    assert client.diagnostics(uri) == []


def test_positions_count_utf16_units(client: Client, tmp_path: Path) -> None:
    text = TEXT.replace("k = mk.sum(v), 3", 'k = mk.sum(v), "𝒳ß" + missing')
    uri = opened(client, tmp_path, text)
    [diagnostic] = client.diagnostics(uri)
    line, character = place(text, "missing")
    assert diagnostic["range"]["start"] == {"line": line, "character": character}


@sampled(2)
@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 6), ("utf-32", 2)])
def test_positions_count_what_the_client_counts(tmp_path: Path, encoding: str, units: int) -> None:
    text = TEXT.replace("k = mk.sum(v), 3", 'k = mk.sum(v), "𝒳ß" + missing')
    with Client(encoding=encoding) as client:
        uri = opened(client, tmp_path, text)
        [diagnostic] = client.diagnostics(uri)
    before = text.splitlines()[place(text, "missing")[0]].partition("missing")[0]
    assert diagnostic["range"]["start"]["character"] == len(before) - 2 + units


def test_outer_names_are_those_of_the_saved_file(client: Client, tmp_path: Path) -> None:
    saved = TEXT.replace("BLOCK = 64", "BLOCK = int('32')")
    uri = opened(client, tmp_path, saved)
    client.diagnostics(uri)
    assert hover(client, uri, saved, "i = mk") == typed("i", "i32[32]")
    literal = saved.replace("int('32')", "16")
    client.type(uri, literal)
    client.diagnostics(uri)
    assert hover(client, uri, literal, "i = mk") == typed("i", "i32[16]")
    unknown = saved.replace("int('32')", "int('8')")
    client.type(uri, unknown)
    assert client.diagnostics(uri) == []
    assert hover(client, uri, unknown, "N, SIZE") in (None, typed("N", "i32"))
    (tmp_path / "kernels.py").write_text(unknown)
    client.forget(uri)
    client.save(uri)
    client.diagnostics(uri)
    assert hover(client, uri, unknown, "i = mk") == typed("i", "i32[8]")


PLANTED = """\
import os
os.remove(PATH)
X = os.remove(PATH)
class C:
    os.remove(PATH)


@os.remove(PATH)
def decorated(x=os.remove(PATH)) -> os.remove(PATH):
    os.remove(PATH)


@eas.kernel(examples=[("*f32[:]", os.remove(PATH))], checked=os.remove(PATH))
def planted(a: "os.remove(PATH)", b: os.remove(PATH) = os.remove(PATH)):
    a[0] = os.remove(PATH)
    a[1] = (lambda: os.remove(PATH))()
    mk.static_assert(os.remove(PATH) is None, f"{os.remove(PATH)}")
    a[2] = decorated()
"""


def test_text_that_is_not_saved_is_never_run(client: Client, tmp_path: Path) -> None:
    sentinel = tmp_path / "sentinel"
    sentinel.write_text("")
    planted = PLANTED.replace("PATH", repr(str(sentinel)))
    uri = opened(client, tmp_path, TEXT, text=f"{TEXT}\n{planted}")
    assert "E0411" in client.codes(uri)
    client.type(uri, f"{planted}\n{TEXT}")
    client.diagnostics(uri)
    for line in range(60):
        client.request("eas/metal", {"uri": uri, "line": line})
    assert sentinel.exists()


def test_nothing_runs_where_imports_are_switched_off(tmp_path: Path) -> None:
    sentinel = tmp_path / "sentinel"
    sentinel.write_text("")
    text = f"import os\nos.remove({str(sentinel)!r})\n{TEXT}"
    with Client("--no-import") as client:
        uri = opened(client, tmp_path, text)
        assert client.diagnostics(uri) == []
        assert hover(client, uri, text, "i = mk") == typed("i", "i32[64]")
        client.save(uri)
        assert client.diagnostics(uri) == []
    assert sentinel.exists()


def test_what_a_module_prints_is_logged(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, f"print('a module speaks')\n{TEXT}")
    assert client.diagnostics(uri) == []
    assert any("a module speaks" in each for each in client.logged)


def test_a_failing_import_is_shown_at_its_place(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, f"1 / 0\n{HEAD}{WRONG}")
    found = {d["code"]: d["range"]["start"]["line"] for d in client.diagnostics(uri)}
    assert found == {"E0205": 7, "E0201": 8, "import": 0}


def test_a_module_that_takes_long_does_not_keep_the_server_from_answering(
    client: Client, tmp_path: Path
) -> None:
    text = f"import time\ntime.sleep(600)\n{TEXT}"
    uri = opened(client, tmp_path, text)
    assert client.at("textDocument/completion", uri, *place(text, "sum(v)"))["items"] != []


def test_a_helper_of_another_file_is_blamed_at_the_call(client: Client, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def shrink(x):\n    return x / missing\n")
    text = TEXT.replace("import eas\n", "import eas\nfrom helper import shrink\n")
    text = text.replace("mk.sum(v)", "shrink(mk.sum(v))")
    uri = opened(client, tmp_path, text)
    [diagnostic] = client.diagnostics(uri)
    assert diagnostic["range"]["start"]["line"] == place(text, "shrink(mk")[0]
    [related] = diagnostic["relatedInformation"]
    assert related["location"]["uri"] == (tmp_path / "helper.py").as_uri()
    assert related["location"]["range"]["start"] == {"line": 1, "character": 15}


def test_a_closed_document_has_no_diagnostics(client: Client, tmp_path: Path) -> None:
    uri = opened(client, tmp_path, HEAD + WRONG)
    assert client.codes(uri) == ["E0205", "E0201"]
    client.forget(uri)
    client.close(uri)
    client.request("eas/metal", {"uri": uri, "line": 0})
    assert client.published[uri]["diagnostics"] == []


def children_of(process: int) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            stat = (entry / "stat").read_text()
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and int(stat.rpartition(")")[2].split()[1]) == process:
            found.append(int(entry.name))
    return found


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked up in /proc")
def test_no_process_is_left_when_the_server_ends(tmp_path: Path) -> None:
    with Client() as client:
        uri = opened(client, tmp_path, TEXT)
        client.diagnostics(uri)
        workers = children_of(client.process.pid)
        assert len(workers) == 2
    for worker in workers:
        wait_until(lambda worker=worker: not is_alive(worker))


def test_the_command_says_which_extra_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find_spec(name: str) -> Any:
        return None

    monkeypatch.setattr("importlib.util.find_spec", find_spec)
    assert main(["lsp"]) == 2
    assert capsys.readouterr().err == (
        "eas: the language server needs the extra `lsp`: pip install 'easy_as[lsp]'\n"
    )


COMPUTED = """\
import eas
import numpy as np
from eas import mk

TABLE = tuple(float(v) for v in np.linspace(0, 1, 4))


@eas.kernel(examples=[("*f32[:]",)])
def k(a):
    a[0] = TABLE[5]


def plain(a):
    a[0] = missing


called = eas.kernel(plain)
"""


def test_a_saved_text_has_the_errors_of_a_check(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "computed.py"
    file.write_text(COMPUTED)
    uri = client.open(file)
    assert client.codes(uri) == ["E0707", "E0201"]
    client.type(uri, "# a note\n" + COMPUTED)
    [error] = client.diagnostics(uri)
    assert (error["code"], error["range"]["start"]["line"]) == ("E0707", 10)
    client.type(uri, COMPUTED.replace("0, 1, 4", "0, 1, 9"))
    assert client.codes(uri) == []  # what it has is not known until it is saved


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_ends_of_lines_change_nothing(client: Client, tmp_path: Path, end: str) -> None:
    file = tmp_path / f"ends_{len(end)}.py"
    text = COMPUTED.replace("\n", end)
    file.write_text(text, newline="")
    uri = client.open(file, text)
    assert client.codes(uri) == ["E0707", "E0201"]
    client.type(uri, text.replace("[5]", "[3] + gone"))
    [error] = client.diagnostics(uri)
    assert error["code"] == "E0201"
    assert error["range"]["start"] == {"line": 9, "character": 22}


WIDE = """\
import eas
from eas import mk


def half(v):
    return v * 0.5

""" + "".join(
    f"""
@eas.kernel(examples=[("*f32[:]", dict(N={64 if n else 1 << 16}))])
def k{n}(a, N: eas.constexpr):
    t = mk.alloc_tg(N, mk.f32)
    t[0] = half(a[0])
    a[1] = t[0]

"""
    for n in range(4)
)


def test_errors_of_metal_follow_where_several_kernels_change(
    client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "wide.py"
    file.write_text(WIDE)
    uri = client.open(file)
    first = client.codes(uri)
    assert len(first) == 1 and first[0].startswith("E1")
    client.type(uri, WIDE.replace("0.5", "0.25"))
    while client.codes(uri) != first:
        client.forget(uri)
    client.type(uri, WIDE.replace("0.5", "quarter"))
    while "E0201" not in client.codes(uri):
        client.forget(uri)
    client.type(uri, WIDE.replace("1 << 16", "64").replace("65536", "64"))
    assert client.codes(uri) == []


def test_a_request_that_is_cancelled_leaves_the_document_alive(
    client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "cancelled.py"
    file.write_text(TEXT)
    uri = client.open(file)
    for _ in range(3):
        client.send_and_cancel("eas/metal", {"uri": uri, "line": 12})
    client.type(uri, TEXT + "\n\nnothing = missing\n")
    assert client.codes(uri) == []


@pytest.mark.parametrize(
    "message",
    [
        {"id": "a", "method": "no/such"},
        {"id": "b", "method": "textDocument/hover", "params": {"wrong": 1}},
        {"id": "c", "method": "eas/metal", "params": {"line": 0}},
        {"id": "d", "method": "workspace/executeCommand", "params": {"command": "eas.metal"}},
        {"method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///no.py"}}},
        {"method": "textDocument/didSave", "params": {"textDocument": {"uri": "file:///no.py"}}},
        {"method": "$/cancelRequest", "params": {"id": 12345}},
        {"nonsense": True},
    ],
)
def test_a_message_that_is_wrong_does_not_end_the_server(
    client: Client, tmp_path: Path, message: Message
) -> None:
    client.send(message)
    file = tmp_path / "after.py"
    file.write_text(TEXT)
    assert client.codes(client.open(file)) == []
