"""Memory that is exchanged lives as long as either side needs it, and no longer."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import eas
from eas.runtime.tensors import capsules
from tests.processes import in_a_fork

EXCHANGES = 10_000


class Lender:
    """A library that says when its memory is given back."""

    def __init__(self) -> None:
        self.array = np.arange(100, dtype=np.float32)
        self.returned = weakref.ref(self.array)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory_of_another_library_is_given_back_after_the_last_view() -> None:
    lender = Lender()
    tensor = eas.from_dlpack(lender)
    returned = lender.returned
    view, array = tensor[10:], tensor.numpy()
    del lender, tensor
    assert returned() is not None
    assert view.tolist() == list(range(10, 100))
    del view
    assert returned() is not None
    del array
    assert returned() is None


def test_a_tensor_that_is_lent_is_kept_until_it_comes_back() -> None:
    in_use = eas.memory.stats().in_use
    tensor = eas.full(1000, 7)
    array = np.from_dlpack(tensor)
    del tensor
    assert array.tolist() == [7] * 1000
    assert eas.memory.stats().in_use > in_use
    del array
    assert eas.memory.stats().in_use == in_use


def test_a_capsule_that_nobody_consumes_gives_its_memory_back() -> None:
    in_use = eas.memory.stats().in_use
    for version in (None, (1, 0)):
        capsule = eas.zeros(1000).__dlpack__(max_version=version)
        assert eas.memory.stats().in_use > in_use
        del capsule
        assert eas.memory.stats().in_use == in_use


def test_a_refused_capsule_gives_its_memory_back() -> None:
    class Odd(Lender):
        def __init__(self) -> None:
            super().__init__()
            self.array = np.zeros(3, np.complex64)
            self.returned = weakref.ref(self.array)

    odd = Odd()
    returned = odd.returned
    with pytest.raises(BufferError):
        eas.from_dlpack(odd)
    del odd
    gc.collect()
    assert returned() is None


@pytest.mark.parametrize("is_consumer_first", [True, False])
def test_many_exchanges_do_not_grow(is_consumer_first: bool) -> None:
    shared = np.arange(1000, dtype=np.float32)

    def exchange(number: int) -> None:
        version = None if number % 2 else (1, 0)
        ours = eas.full(1000, number % 7)
        theirs: Any = np.from_dlpack(ours)
        back: Any = eas.from_dlpack(shared)
        unused: Any = ours.__dlpack__(max_version=version)
        assert theirs[-1] == number % 7
        if is_consumer_first:
            del theirs, back, ours, unused
        else:
            del unused, ours, back, theirs

    for number in range(500):
        exchange(number)
    gc.collect()
    before, in_use = resident_bytes(), eas.memory.stats().in_use
    references = sys.getrefcount(shared)
    for number in range(EXCHANGES):
        exchange(number)
    gc.collect()
    assert eas.memory.stats().in_use == in_use
    # Whatever else the process does moves this by a few megabytes; a leak would add many more.
    assert resident_bytes() - before < 800 * EXCHANGES
    assert sys.getrefcount(shared) == references


def test_a_deleter_is_called_by_any_thread() -> None:
    in_use = eas.memory.stats().in_use
    held: list[Any] = [np.from_dlpack(eas.full(1000, n)) for n in range(100)]
    held += [eas.zeros(1000).__dlpack__() for _ in range(100)]

    def drop() -> None:
        while held:
            try:
                held.pop()
            except IndexError:
                return

    threads = [threading.Thread(target=drop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert eas.memory.stats().in_use == in_use


def test_a_deleter_is_called_without_the_gil() -> None:
    """As a thread of another library does it, which Python knows nothing of."""
    in_use = eas.memory.stats().in_use
    capsule = eas.zeros(1000).__dlpack__(max_version=(1, 0))
    address = capsules.get_pointer(capsule, capsules.VERSIONED)
    capsules.set_name(capsule, capsules.USED[capsules.VERSIONED])
    deleter = capsules.DLManagedTensorVersioned.from_address(address).deleter
    libc = ctypes.CDLL(None)  # a call releases the GIL
    thread = ctypes.c_ulong()
    libc.pthread_create(
        ctypes.byref(thread), None, ctypes.c_void_p(deleter), ctypes.c_void_p(address)
    )
    libc.pthread_join(thread, None)
    assert eas.memory.stats().in_use == in_use


AT_EXIT = """
import atexit, sys, threading
import numpy as np
import eas

kept = [np.from_dlpack(eas.ones(10)), eas.from_dlpack(np.ones(10)), eas.ones(10).__dlpack__()]
kept += [eas.ones(10).__dlpack__(max_version=(1, 0))]
sys.modules["keeper"] = kept            # outlives most modules
builtins = __import__("builtins")
builtins.kept = [np.from_dlpack(eas.ones(10)), eas.ones(10).__dlpack__()]
builtins.ours = eas.from_dlpack(np.ones(10))

class Late:
    def __del__(self, make=eas.ones):
        print("late", np.from_dlpack(eas.ones(3)).sum() if eas else "")

late = Late()
atexit.register(lambda: print("exit", eas.from_dlpack(np.ones(4)).tolist()))
def work():
    for _ in range(1000):
        eas.ones(4).__dlpack__()

threading.Thread(target=work, daemon=True).start()
print("end")
"""


def test_nothing_that_is_exchanged_ends_the_process_at_exit() -> None:
    for _ in range(3):
        ran = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", AT_EXIT],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.startswith("end\nexit [1.0, 1.0, 1.0, 1.0]\n")


def test_a_forked_process_has_copies_of_tensors() -> None:
    tensor = eas.arange(5)
    array = np.from_dlpack(tensor)

    def use() -> str:
        tensor.fill_(9)
        other = eas.zeros(1000)
        return f"{array.tolist()} {np.from_dlpack(other).sum()}"

    assert in_a_fork(use) == "[9, 9, 9, 9, 9] 0.0"
    assert tensor.tolist() == [0, 1, 2, 3, 4]
