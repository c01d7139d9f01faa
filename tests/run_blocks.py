"""Runs code that users know, as they wrote it; `tests/test_quick_start.py` has the tests.

`python -m tests.run_blocks NAME...` runs blocks of `tests/blocks` one after the other, in one
namespace, on a simulated Mac. There torch has tensors on `mps`: a stand-in makes them, and
exchanges them through DLPack as torch does, as Metal buffers.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Generator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import eas
from eas.msl.host import default_host
from tests.metal.forgetting import forget_device
from tests.metal.simulated import Machine, installed

BLOCKS = Path(__file__).parent / "blocks"


def run_blocks(*names: str) -> dict[str, Any]:
    """Runs blocks in one namespace, and gives that; `printed` is what they print."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for name in names:
            path = BLOCKS / f"{name}.py"
            exec(compile(path.read_text("utf-8"), str(path), "exec"), namespace)
    return namespace | {"printed": out.getvalue()}


@contextlib.contextmanager
def simulated_mac() -> Generator[Machine]:
    """A simulated Mac, whose GPU is there until the end."""
    machine = Machine(default_host(), is_strict=False)
    with installed(machine):
        forget_device()
        try:
            yield machine
        finally:
            machine.end.set()
            forget_device()


class MpsTensor:
    """A tensor of torch on `mps`: a Metal buffer that DLPack hands over."""

    def __init__(self, tensor: eas.Tensor) -> None:
        self.tensor = tensor
        self.device, self.dtype = "mps:0", f"torch.{tensor.dtype.numpy.name}"

    def __dlpack__(self, **options: Any) -> Any:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()


class TorchWithMps(ModuleType):
    """torch, as it is on a Mac: also with tensors on `mps`."""

    def __init__(self, torch: Any) -> None:
        super().__init__("torch")
        self.real = torch
        self.backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: True))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def randn(self, *shape: int, device: str = "cpu", **options: Any) -> Any:
        made = self.real.randn(*shape, **options)
        return MpsTensor(eas.tensor(made).to("mps")) if device == "mps" else made

    def from_dlpack(self, source: Any) -> Any:
        is_metal = source.__dlpack_device__()[0] == 8
        return MpsTensor(eas.from_dlpack(source)) if is_metal else self.real.from_dlpack(source)


def main() -> None:
    torch: Any = importlib.import_module("torch")
    to_dlpack: Any = importlib.import_module("torch.utils.dlpack")
    with simulated_mac():
        sys.modules["torch"] = TorchWithMps(torch)
        capsule_of = to_dlpack.to_dlpack
        to_dlpack.to_dlpack = lambda x: (
            x.__dlpack__() if isinstance(x, MpsTensor) else capsule_of(x)
        )
        found = run_blocks(*sys.argv[1:])
        check(found)
        print(found["printed"], end="")


def check(found: dict[str, Any]) -> None:
    """Memory is shared where a block says so."""
    if "a_e" in found:
        a, a_e, b_e, x, x_e = (found[name] for name in ("a", "a_e", "b_e", "x", "x_e"))
        a_e.fill_(3.0)
        assert a.tolist() == [3.0] * 1024
        assert (b_e.device, x_e.device) == ("metal", "metal")
        assert b_e.tolist() != a_e.tolist()
        x_e.fill_(4.0)
        assert x.tensor.tolist() == [4.0] * 1024
    if "t" in found:
        found["x_e"].fill_(5.0)
        assert found["t"].tensor.tolist() == [5.0] * 1024
    if "y" in found:
        assert found["y"].numpy().ctypes.data == found["x"].data_ptr()
        assert type(found["z"]).__name__ == "PyCapsule"


if __name__ == "__main__":
    main()
