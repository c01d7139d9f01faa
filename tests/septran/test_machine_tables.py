"""The tables that are made of machine files."""

from __future__ import annotations

from eas.septran.files.machine import load_machine
from eas.septran.machine_tables import library_of
from eas.septran.targets.library import NATIVE, CopyFunctions


def test_the_functions_of_the_awesomedsa_are_those_of_the_seed() -> None:
    library = library_of(load_machine("awesomedsa"))
    assert library.product("dsa.mma") == "vendor_lib_mma"
    assert library.product("dsa.systolic_compute") == "vendor_lib_systolic_compute"
    assert library.product("gemm_leaf_systolic") == "vendor_lib_systolic_compute"
    functions = CopyFunctions("vendor_lib_dma_copy", "vendor_lib_sync")
    assert library.copies["GLOBAL->SPM"] == functions
    assert library.headers == ("awesomedsa.h",)
    assert library.sources == (NATIVE / "awesomedsa.c",)
    assert library.scratch == "parameter"


def test_every_function_of_the_table_is_declared_in_the_header() -> None:
    library = library_of(load_machine("awesomedsa"))
    header = (NATIVE / "awesomedsa.h").read_text("utf-8")
    missing = [name for name in library.symbols.values() if f"void {name}(" not in header]
    assert missing == []
