"""The libraries that the tests of the targets print for."""

from __future__ import annotations

from eas.septran.files.machine import load_machine
from eas.septran.machine_tables import library_of
from eas.septran.targets.library import PLAIN_C, Library

AWESOMEDSA = library_of(load_machine("awesomedsa"))
LIBRARIES: dict[str, Library] = {"awesomedsa": AWESOMEDSA, "c": PLAIN_C}
