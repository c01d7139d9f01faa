"""The page of a review in Chromium: by keyboard, in a narrow window, in the dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from eas.review.page import write_page
from eas.review.pairs import pair_up
from eas.review.sources import PythonPart
from eas.review.trees import Tree
from eas.review.versions import Version
from tests.browser import IS_HERE, Browser
from tests.review.test_page import HOSTILE
from tests.review.texts import metal

pytestmark = pytest.mark.skipif(not IS_HERE, reason="chromium and chromedriver are not installed")

PYTHON = ["@eas.kernel", "def probe(x, y, N):", "    v = mk.load(x, i)", "    mk.store(y, i, v)"]
IR = """kernel probe() from "k.py" {
  %v.1: f32 = load %x.0[%0]   @3:8-20
  store %y.1[%0] = %v.1       @4:4-20
}
"""
NEW = "const float v = x[t];   // +1\nconst float w = x[t + 1];\ny[t] = v + w;   // +2"
OLD = "const float v = x[t];   // +1\ny[t] = v;   // +2"


def kernel(key: str, body: str) -> Version:
    return Version(key, key, metal(body), IR, [PythonPart("probe", "k.py", 1, 2, PYTHON)])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    old = {name: kernel(name, OLD) for name in ("alpha", "beta", HOSTILE, "same")}
    new = {name: kernel(name, NEW) for name in ("alpha", "beta", HOSTILE)} | {"same": old["same"]}
    text = write_page(Tree("old", Path()), Tree("new", Path()), pair_up(old, new))
    file = tmp_path_factory.mktemp("page with spaces") / "review.html"
    file.write_text(text, "utf-8")
    return file


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def browser(window: Browser, page: Path) -> Browser:
    window.resize(1400, 900)
    window.use_scheme("light")
    window.open(page)
    return window


TITLE = "(document.querySelector('#kernel h2')?.textContent || '')"


def title(browser: Browser) -> str:
    return browser.run(f"return {TITLE}")


def lit(browser: Browser, pane: str) -> list[str]:
    script = f"return [...document.querySelectorAll('.pane.{pane} .row.lit .code')]"
    return [each.strip() for each in browser.run(f"{script}.map((each) => each.textContent)")]


def test_the_overview_comes_first_and_shows_what_grew(browser: Browser) -> None:
    rows = browser.run(
        "return [...document.querySelectorAll('#overview tbody tr')].map((row) => row.innerText)"
    )
    assert len(rows) == 3
    assert "1 × 4 B → 2 × 4 B" in re.sub(r"\s+", " ", rows[0])


def test_j_and_k_go_through_the_kernels(browser: Browser) -> None:
    seen: list[str] = []
    for key in ("j", "j", "k"):
        before = title(browser)
        browser.press(key)
        browser.wait_for(f"{TITLE} !== '{before}'")
        seen.append(title(browser))
    assert seen[0] == seen[2] != seen[1]


def test_o_goes_back_to_the_overview(browser: Browser) -> None:
    browser.press("j", "o")
    browser.wait_for("!document.getElementById('overview').hidden")


def test_lines_light_up_together_under_the_mouse(browser: Browser) -> None:
    browser.press("j")
    browser.wait_for("document.querySelector('.pane.python .row')")
    box = browser.run(
        "const row = document.querySelectorAll('.pane.python .row')[3].getBoundingClientRect();"
        "return [row.x + 90, row.y + row.height / 2]"
    )
    browser.point_at(round(box[0]), round(box[1]))
    browser.wait_for("document.querySelector('.row.lit')")
    assert lit(browser, "python") == ["mk.store(y, i, v)"]
    assert lit(browser, "ir") == ["store %y.1[%0] = %v.1"]
    assert lit(browser, "metal") == ["y[t] = v;", "y[t] = v + w;"] or lit(browser, "metal") == [
        "y[t] = v;",
        "y[t] = v + w;",
        "}",
    ]


def test_lines_light_up_together_by_the_keyboard(browser: Browser) -> None:
    browser.press("j")
    browser.wait_for("document.querySelector('.pane.metal .row')")
    browser.press("n")
    assert browser.run("return document.querySelector('.row.at').className").startswith("row ")
    browser.press("ArrowLeft", "ArrowLeft", "ArrowUp")
    assert "python" in browser.run("return document.activeElement.parentElement.className")
    selected = browser.run("return document.querySelectorAll('[aria-selected=true]').length")
    assert selected == 1
    assert lit(browser, "python")


def test_slash_finds_a_kernel_and_enter_opens_it(browser: Browser) -> None:
    browser.press("/", "b", "e", "t", "Enter")
    browser.wait_for("document.querySelector('#kernel h2')")
    assert title(browser) == "beta"


def test_question_mark_opens_the_keys_and_escape_closes_them(browser: Browser) -> None:
    browser.press("?")
    assert browser.run("return document.getElementById('help').open")
    browser.press("j")
    assert browser.run("return document.getElementById('kernel').hidden")
    browser.press("Escape")
    assert not browser.run("return document.getElementById('help').open")


def test_v_shows_one_version(browser: Browser) -> None:
    browser.press("j")
    browser.wait_for("document.querySelector('.pane.metal .row')")
    rows = "[...document.querySelectorAll('.pane.metal .row')]"
    shown = f"return {rows}.filter((row) => row.offsetParent)"
    both = browser.run(f"{shown}.length")
    browser.press("v")
    new = browser.run(f"{shown}.map((row) => row.className)")
    assert len(new) < both
    assert not [each for each in new if "del" in each]


def test_names_with_tags_are_shown_as_they_are(browser: Browser) -> None:
    browser.press("/", "i", "m", "g", "Enter")
    browser.wait_for("document.querySelector('#kernel h2')")
    assert title(browser) == HOSTILE.rpartition("/")[2]
    assert browser.run("return document.images.length") == 0


def test_nothing_is_wrong_and_nothing_is_fetched(browser: Browser, page: Path) -> None:
    browser.press("j", "n", "v", "c")
    errors = [each for each in browser.log() if each["level"] == "SEVERE"]
    assert errors == []
    requests = [
        line for line in map(str, browser.log("performance")) if "Network.requestWillBeSent" in line
    ]
    assert not [line for line in requests if "http://" in line or "https://" in line]


@pytest.mark.parametrize("width", [360, 760, 1024])
def test_a_narrow_window_needs_no_scrolling_to_the_side(browser: Browser, width: int) -> None:
    browser.resize(width, 800)
    overflow = "return document.documentElement.scrollWidth - window.innerWidth"
    assert browser.run(overflow) <= 0
    browser.press("j")
    browser.wait_for("document.querySelector('.pane.metal .row')")
    assert browser.run(overflow) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(browser: Browser, scheme: str) -> None:
    browser.use_scheme(scheme)
    browser.press("j")
    browser.wait_for("document.querySelector('.pane.metal .row')")
    browser.press("n")
    assert browser.run(CONTRAST) == []
    browser.press("o")
    assert browser.run(CONTRAST) == []


def test_both_schemes_differ(browser: Browser) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(colour)
    browser.use_scheme("dark")
    assert browser.run(colour) != light


def test_the_page_has_landmarks_and_names(browser: Browser) -> None:
    browser.press("j")
    browser.wait_for("document.querySelector('.pane.metal .row')")
    for tag in ("header", "nav", "main", "h1"):
        assert browser.run(f"return document.querySelectorAll('{tag}').length") == 1
    unnamed = """
return [...document.querySelectorAll('button, a, input, [role=listbox]')].filter((each) =>
    !(each.textContent.trim() || each.getAttribute('aria-label') ||
      each.getAttribute('aria-labelledby') || each.labels?.length)).length
"""
    assert browser.run(unnamed) == 0


# The texts whose contrast with what is behind them is less than 4.5, as WCAG counts it.
CONTRAST = """
const number = (text) => { const c = text.match(/[\\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c; };
const light = (c) => {
  const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
  return .2126 * r + .7152 * g + .0722 * b;
};
const behind = (each) => {
  for (; each; each = each.parentElement) {
    const colour = number(getComputedStyle(each).backgroundColor);
    if (colour[3] === 1) return colour;
  }
  return [255, 255, 255, 1];
};
const bad = new Set();
for (const each of document.querySelectorAll('body *')) {
  const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !each.offsetParent || each.closest('script, .skip')) continue;
  const a = light(number(getComputedStyle(each).color)), b = light(behind(each));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) bad.add(`${each.tagName}.${each.className}: ${ratio.toFixed(2)}`);
}
return [...bad];
"""  # noqa: E501
