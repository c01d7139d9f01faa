"""The page of `septran picture`, as text and in a real browser."""

from __future__ import annotations

import re
from collections.abc import Generator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from eas.septran.cli import main
from eas.septran.operators import load
from eas.septran.picture import make_page
from scripts.draw_picture import PICTURE, digest_of, drawn_digest, page_text, with_digest
from tests.browser import IS_HERE, Browser
from tests.septran.operators import EXAMPLES, FOLDER, Example, case_of

needs_browser = pytest.mark.skipif(
    not IS_HERE, reason="chromium and chromedriver are not installed"
)
FLASH = FOLDER / "flash_attention"
SIZES = "H=2,M=128,N=128,D=64"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Flash attention on three machines."""
    path = tmp_path_factory.mktemp("picture") / "flash.html"
    mappings = [str(FLASH / f"{name}.map.yaml") for name in ("h100", "awesomedsa", "apple_gpu")]
    logic = str(FLASH / "flash_attention_logic.py")
    assert main(["picture", logic, *mappings, "--shape", SIZES, "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    found = Browser(tmp_path_factory.mktemp("profile"))
    found.resize(1500, 1000)
    yield found
    found.close()


def errors(browser: Browser) -> list[str]:
    return [each["message"] for each in browser.log() if each["level"] == "SEVERE"]


class Tags(HTMLParser):
    """Checks that tags are closed in order, and keeps the texts of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_mapping_of_every_operator_has_a_picture(example: Example) -> None:
    pictures = []
    for mapping in example.mappings:
        operator = load(example.logic_file, mapping)
        dtype = {"f16": "f2", "f32": "f4"}[operator.machine.default_dtype]
        arrays, _ = case_of(example, mapping, example.sizes[0], dtype)
        pictures.append(operator.picture(*arrays))
    tags = Tags(make_page(pictures))
    panels = [attributes for tag, attributes in tags.found if tag == "article"]
    assert len(panels) == len(example.mappings)


def test_every_op_that_is_lit_exists(page: Path) -> None:
    tags = Tags(page.read_text("utf-8"))
    keys = {key for _, each in tags.found for key in (each.get("data-key") or "").split()}
    lights = {key for _, each in tags.found for key in (each.get("data-lights") or "").split()}
    assert lights
    assert lights <= keys


def test_every_line_of_the_flat_ir_names_its_line_of_the_mapping(page: Path) -> None:
    operator = load(FLASH / "flash_attention_logic.py", FLASH / "h100.map.yaml")
    picture = operator.picture(H=2, M=128, N=128, D=64)
    [kernel] = picture.kernels
    ops = [line for line in kernel.lines if not line.is_end]
    assert all(line.yaml is not None and line.because for line in ops)
    copies = [line for line in ops if line.text.startswith("copy K_shared")]
    [copied] = [line.yaml.line for line in copies if line.yaml is not None]
    assert "K: SHARED" in (FLASH / "h100.map.yaml").read_text().splitlines()[copied - 1]


def test_the_bytes_of_arrows_are_those_of_the_counts() -> None:
    operator = load(FOLDER / "gemm/gemm_logic.py", FOLDER / "gemm/gemm.cpu.map.yaml")
    [kernel] = operator.picture(M=300, N=300, K=300).kernels
    arrows = [arrow for row in kernel.rows for arrow in row.arrows]
    total = operator.explain(M=300, N=300, K=300).movement[0].total
    assert sum(arrow.bytes for arrow in arrows) == total.bytes
    assert sum(arrow.times for arrow in arrows) == total.copies


def test_a_result_that_goes_through_a_memory_is_not_read_from_its_array() -> None:
    operator = load(FLASH / "flash_attention_logic.py", FLASH / "h100.map.yaml")
    text = make_page([operator.picture(H=2, M=128, N=128, D=64)])
    [row] = re.findall(r'<th scope="row">O</th>(.*?)</tr>', text)
    shown = re.sub(r"<small>.*?</small>", "", row)
    assert re.sub(r"<[^>]*>", "", shown).split() == ["GLOBAL", "←", "SHARED", "←", "REGISTER"]


def test_sizes_that_differ_stand_beside_their_mappings() -> None:
    operator = load(FLASH / "flash_attention_logic.py", FLASH / "cpu.map.yaml")
    pictures = [operator.picture(H=2, M=128, N=keys, D=64) for keys in (128, 192)]
    header = re.compile(r"<header>.*?</header>", re.DOTALL)
    for drawn, beside in ((pictures[:1] * 2, 0), (pictures, 1)):
        text = make_page(drawn)
        [top] = header.findall(text)
        assert ("N&nbsp;=&nbsp;128" in top) == (not beside)
        headings = re.findall(r'<h2 id="panel.">(.*?)</h2>', text)
        assert [each.count("N&nbsp;=&nbsp;192") for each in headings] == [0, beside]


@needs_browser
def test_texts_stay_in_their_boxes(tmp_path: Path, browser: Browser) -> None:
    """Sizes of four axes are the longest, and so are names of memories."""
    conv, page = FOLDER / "conv2d", tmp_path / "conv.html"
    operator = load(conv / "conv2d_logic.py", conv / "conv2d.apple_gpu.map.yaml")
    picture = operator.picture(N=128, P=224, Q=224, O=64, C=64, R=3, S=3)
    page.write_text(make_page([picture]), "utf-8")
    browser.open(page)
    wide = browser.run(
        "return [...document.querySelectorAll('.buffer')].filter((each) => {"
        " const box = each.querySelector('.box:not(.behind)').getBoundingClientRect();"
        " return [...each.querySelectorAll('text')].some((text) =>"
        " text.getBoundingClientRect().right > box.right); }).map((each) => each.textContent)"
    )
    assert wide == []


def test_the_picture_in_the_docs_is_of_the_page_as_it_is() -> None:
    """`python -m scripts.draw_picture` draws it again; the alternative text says where K lies."""
    picture = PICTURE.read_bytes()
    assert drawn_digest(picture) == digest_of(page_text())
    assert drawn_digest(with_digest(picture[:33], "0" * 64)) == "0" * 64


def test_a_mapping_without_an_entrypoint_changes_the_one_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overlay = tmp_path / "deeper.map.yaml"
    overlay.write_text("task_mappings: {gemm_block: {pipeline: 3}}\n")
    gemm = [str(FOLDER / "gemm" / name) for name in ("gemm_logic.py", "gemm.apple_gpu.map.yaml")]
    cpu = str(FOLDER / "gemm/gemm.cpu.map.yaml")
    out = tmp_path / "gemm.html"
    assert main(["picture", *gemm, str(overlay), cpu, "-o", str(out)]) == 0
    assert capsys.readouterr().out.startswith(f"wrote {out}\n")
    text = out.read_text("utf-8")
    assert text.count("<article") == 2
    assert "deeper.map.yaml" in text
    assert "SHARED ×3" in text


def test_a_mistake_in_a_mapping_is_an_error_and_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapping = tmp_path / "wrong.map.yaml"
    mapping.write_text("machine: cpu\nentrypoint: nothing\ntask_mappings: {}\n")
    out = tmp_path / "page.html"
    assert main(["picture", str(FOLDER / "gemm/gemm_logic.py"), str(mapping), "-o", str(out)]) == 1
    assert "error[S" in capsys.readouterr().err
    assert not out.exists()


HOSTILE = "<img src=x onerror=\"document.title='broken'\">&\"'</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose mapping has markup in its comments and in its name."""
    folder = tmp_path_factory.mktemp("hostile")
    text = (FOLDER / "gemm/gemm.cpu.map.yaml").read_text("utf-8")
    mapping = folder / "a <b onclick=x>'&.map.yaml"
    mapping.write_text(f"# {HOSTILE}\n{text}", "utf-8")
    out = folder / "page.html"
    assert main(["picture", str(FOLDER / "gemm/gemm_logic.py"), str(mapping), "-o", str(out)]) == 0
    return out


def test_markup_in_files_is_text(hostile: Path) -> None:
    text = hostile.read_text("utf-8")
    tags = Tags(text)
    assert not [tag for tag, _ in tags.found if tag in ("img", "b onclick=x")]
    assert text.count("<script>") == 1
    assert not re.search(r"\son\w+=", re.sub(r"<(style|script)>.*?</\1>|>[^<]*<", "", text))


@needs_browser
def test_hostile_names_do_nothing_in_a_browser(hostile: Path, browser: Browser) -> None:
    browser.open(hostile)
    assert browser.run("return document.title") == "gemm_host_logic: cpu"
    assert browser.run("return document.querySelectorAll('img').length") == 0
    assert errors(browser) == []


LIT = "return [...document.querySelectorAll('.lit')].map(each => each.textContent.trim())"


@needs_browser
def test_a_page_loads_nothing_and_has_no_errors(page: Path, browser: Browser) -> None:
    browser.open(page)
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
    assert errors(browser) == []


@needs_browser
def test_the_arrow_keys_light_an_op_and_its_line_of_the_mapping(
    page: Path, browser: Browser
) -> None:
    browser.open(page)
    browser.run("document.querySelector('.flat [tabindex=\"0\"]').focus()")
    browser.press("ArrowDown", "ArrowDown")
    op = browser.run("return document.activeElement.textContent")
    lit = browser.run(LIT)
    assert op.startswith(":")
    assert op.strip() in lit
    number = int(re.match(r":(\d+)", op)[1])  # pyright: ignore[reportOptionalSubscript]
    line = (FLASH / "h100.map.yaml").read_text("utf-8").splitlines()[number - 1].strip()
    assert line in lit
    browser.press("Escape")
    assert browser.run(LIT) == []


@needs_browser
def test_a_line_of_the_mapping_lights_all_that_it_caused(page: Path, browser: Browser) -> None:
    browser.open(page)
    lines = (FLASH / "h100.map.yaml").read_text("utf-8").splitlines()
    number = next(n for n, line in enumerate(lines) if "K: SHARED" in line)
    line = f"document.querySelector('.yaml li:nth-child({number + 1})')"
    browser.run(f"{line}.scrollIntoView({{block: 'center'}})")
    corner = browser.run(f"const box = {line}.getBoundingClientRect(); return [box.x, box.y]")
    browser.point_at(int(corner[0]) + 60, int(corner[1]) + 5)
    lit = browser.run(LIT)
    assert any("copy K_shared.SHARED" in each for each in lit)
    assert any("alloc V_shared" in each for each in lit)
    assert not any(each.startswith(":") and "mma" in each for each in lit)


@needs_browser
def test_a_tensor_lights_its_places_on_all_machines(page: Path, browser: Browser) -> None:
    browser.open(page)
    rows = "[...document.querySelectorAll('tbody tr')]"
    browser.run(f"{rows}.find(row => row.cells[0].textContent == 'K').focus()")
    lit = "[...document.querySelectorAll('.tensor.lit')]"
    names = browser.run(f"return {lit}.map(each => each.getAttribute('aria-label'))")
    assert names == [
        "K: K in GLOBAL, K_shared in SHARED",
        "K: K in GLOBAL, K_spm in SPM",
        "K: K in GLOBAL, K_shared in SHARED",
    ]


@needs_browser
def test_a_page_fits_a_narrow_window(page: Path, browser: Browser) -> None:
    browser.resize(380, 800)
    browser.open(page)
    assert browser.run("return document.documentElement.scrollWidth") <= 380
    tops = browser.run("return [...document.querySelectorAll('article')].map(e => e.offsetLeft)")
    assert len(set(tops)) == 1
    browser.resize(1700, 1000)
    tops = browser.run("return [...document.querySelectorAll('article')].map(e => e.offsetTop)")
    assert len(set(tops)) == 1


@needs_browser
def test_a_page_is_dark_where_the_reader_prefers_it(page: Path, browser: Browser) -> None:
    browser.open(page)
    colours = []
    for scheme in ("light", "dark"):
        browser.use_scheme(scheme)
        script = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
        colours.append([_brightness(each) for each in browser.run(script)])
    (ink, paper), (dark_ink, dark_paper) = colours
    assert ink < 80 < 200 < paper
    assert dark_paper < 80 < 200 < dark_ink
    browser.use_scheme("light")


@needs_browser
def test_a_printed_page_has_all_lines_of_its_listings(page: Path, browser: Browser) -> None:
    browser.open(page)
    lists = "[...document.querySelectorAll('.code')]"
    hidden = f"return {lists}.filter(each => each.scrollHeight > each.clientHeight).length"
    assert browser.run(hidden) > 0
    browser.command("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.run(hidden) == 0
    browser.command("Emulation.setEmulatedMedia", {"media": ""})


def _brightness(colour: str) -> float:
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
