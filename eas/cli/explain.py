"""The pages behind the error codes: `eas explain E0312`."""

from __future__ import annotations

import importlib.resources

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from eas.support.close_names import closest
from eas.support.command_line import UsageError, lay_out

# The packages whose codes have pages; none of them needs an extra for its pages to be read.
PACKAGES = ("eas.frontend_ast", "eas.septran")


def explain(code: str | None) -> str:
    """The page of a code, or the table of all codes; for a terminal it is laid out and coloured."""
    pages = read_pages()
    if code is None:
        return lay_out(_table(pages))
    code = _full_form(code)
    if code not in pages:
        raise UsageError(_unknown(code, pages))
    return lay_out(Markdown(pages[code])) if Console().is_terminal else pages[code]


def read_pages() -> dict[str, str]:
    """The text of every page by its code, in order."""
    folders = [importlib.resources.files(package) / "explanations" for package in PACKAGES]
    files = [file for folder in folders for file in folder.iterdir() if file.name.endswith(".md")]
    return {
        file.name.removesuffix(".md"): file.read_text("utf-8")
        for file in sorted(files, key=lambda file: file.name)
    }


def title_of(page: str) -> str:
    """The title in a page's first line, `# E0312: title`."""
    return page.partition("\n")[0].partition(": ")[2]


def _full_form(code: str) -> str:
    """`312` and `e0312` are E0312 too, `r0101` is R0101."""
    digits = code.upper().removeprefix("E")
    if digits.isdecimal():
        return f"E{digits:>04}"
    return code.upper() if code[1:].isdecimal() else code


def _unknown(code: str, pages: dict[str, str]) -> str:
    """Why a code has no page."""
    if code.startswith("H") and code[1:].isdecimal():
        return f"{code} is a report of `msl-host`; these have no pages, docs/host.md lists them"
    near = closest(code, pages)
    hint = f"did you mean {near[0]}?" if near else "`eas explain --list` shows all codes"
    return f"there is no error code {code}; {hint}"


def _table(pages: dict[str, str]) -> Table:
    table = Table("code", "what is wrong", box=None, pad_edge=False)
    for code, page in pages.items():
        table.add_row(code, title_of(page))
    return table
