"""The libraries that the tests of the targets print for."""

from __future__ import annotations

from eas.septran.files.machine import load_machine
from eas.septran.flat.nodes import Module
from eas.septran.flat.parser import parse_module
from eas.septran.machine_tables import library_of
from eas.septran.targets.library import PLAIN_C, Library

AWESOMEDSA = library_of(load_machine("awesomedsa"))
LIBRARIES: dict[str, Library] = {"awesomedsa": AWESOMEDSA, "c": PLAIN_C}


def on_gpu(module: Module) -> Module:
    """A module for the AwesomeDSA as one for a GPU: the same tiles in its memories."""
    text = str(module).replace("SPM", "SHARED").replace("ACC", "REGISTER")
    text = text.replace("machine awesomedsa", "machine nvidia_gpu").replace(
        "dsa.mma", "nvidia.wmma"
    )
    return parse_module(text.replace("threads 1 ", "threads 128 "))
