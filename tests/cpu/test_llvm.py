"""The functions of llvmlite's library are declared and called correctly."""

from __future__ import annotations

import ctypes
import threading
from importlib import import_module
from typing import Any

import pytest

from eas.runtime.cpu import jit, llvm

binding: Any = import_module("llvmlite.binding")  # which has no types


def size_and_kind(ty: Any) -> tuple[int, str]:
    """The properties of a type that decide how it is passed; all pointers are equal."""
    if ty is None:
        return 0, "nothing"
    is_text = ty is ctypes.c_char_p
    is_pointer = is_text or ty is ctypes.c_void_p or hasattr(ty, "contents")
    return ctypes.sizeof(ty), "pointer" if is_pointer else "number"


def called_by_llvmlite(name: str) -> tuple[Any, list[Any]]:
    function = getattr(binding.ffi.lib, llvm.PREFIX + name)
    # ctypes takes a function without a declared result for one that gives an int.
    return function.restype, list(function.argtypes or ())


@pytest.mark.parametrize("name", [*llvm.SHORT, *llvm.LONG])
def test_functions_are_declared_as_llvmlite_declares_them(name: str) -> None:
    given, *taken = (llvm.SHORT | llvm.LONG)[name]
    their_given, their_taken = called_by_llvmlite(name)
    if their_taken:
        assert list(map(size_and_kind, taken)) == list(map(size_and_kind, their_taken))
    if given is not None:
        assert size_and_kind(given) == size_and_kind(their_given)


@pytest.mark.parametrize("name", jit.PASSES)
def test_a_pass_is_added_to_a_manager_of_modules(name: str) -> None:
    _, taken = called_by_llvmlite(f"module_Add{name}Pass")
    assert taken == [binding.ffi.LLVMModulePassManagerRef]


def test_the_host_is_the_one_that_llvmlite_finds() -> None:
    assert llvm.default_triple() == binding.get_default_triple()
    assert llvm.host_name() == binding.get_host_cpu_name()
    features = dict(binding.get_host_cpu_features())
    found = {each[1:]: each[0] == "+" for each in llvm.host_features().split(",")}
    assert found == features


def test_a_text_that_is_no_llvm_is_refused_with_its_place() -> None:
    with pytest.raises(RuntimeError, match="expected type"):
        jit.object_code("define nonsense")


TEXT = """\
define i32 @f(i32 %x) {
  %y = mul i32 %x, 3
  ret i32 %y
}
"""


def test_threads_compile_at_the_same_time() -> None:
    expected = jit.object_code(TEXT)
    made: list[bytes] = []

    def work() -> None:
        for _ in range(20):
            made.append(jit.object_code(TEXT))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [expected] * 80
