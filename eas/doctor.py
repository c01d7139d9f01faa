"""What is on this machine, what will be used, and why: `eas doctor`."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator
from typing import Any, Literal

from eas.config import BackendError, choose_backend, resolve_backend
from eas.runtime.metal import MetalError
from eas.runtime.metal.device import find_device
from eas.runtime.metal.framework import load_framework
from eas.runtime.metal.requirements import NEEDS
from eas.support.cache import examine
from eas.support.records import frozen

Status = Literal["ok", "missing", "wrong"]
_PACKAGES = ("easy_as", "numpy", "llvmlite", "ziglang", "pyobjc-framework-Metal", "torch")
_FAMILIES = (*(f"Apple{n}" for n in range(7, 11)), "Mac2", "Metal3", "Metal4")
_REASONS = {
    "metal": "`auto`: there is a GPU that Metal reaches",
    "cpu": "`auto`: there is no GPU that Metal reaches",
    "interpret": "`auto`: kernels are compiled on Linux and macOS only",
}


@frozen
class Finding:
    """One thing that was looked at; `note` says why, or what to do."""

    group: str
    name: str
    value: str
    status: Status = "ok"
    note: str = ""


def examine_machine() -> list[Finding]:
    """All findings; what cannot be found out is a finding, too."""
    return [*_system(), *_versions(), *_chosen(), *_backends(), *_metal(), *_caches(), *_settings()]


def has_problem(findings: list[Finding]) -> bool:
    """Whether launches without a choice of their own cannot run."""
    return any(each.group == "used" and each.status == "wrong" for each in findings)


def _system() -> Iterator[Finding]:
    yield Finding("system", "platform", f"{platform.system()} {platform.release()}")
    yield Finding("system", "processor", f"{platform.machine()}, {os.cpu_count()} cores")
    yield Finding("system", "python", f"{platform.python_version()} ({sys.executable})")


def _versions() -> Iterator[Finding]:
    for name in _PACKAGES:
        try:
            yield Finding("versions", name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding("versions", name, "not installed", "missing")


def _chosen() -> Iterator[Finding]:
    variable = os.environ.get("EAS_BACKEND", "")
    try:
        backend = choose_backend(None)
    except BackendError as error:
        yield Finding("used", "backend", "none", "wrong", f"EAS_BACKEND={variable}: {error}")
        return
    is_automatic = variable in ("", "auto")
    why = _REASONS[backend] if is_automatic else f"EAS_BACKEND={variable}"
    yield Finding("used", "backend", backend, note=why)


def _backends() -> Iterator[Finding]:
    for name in ("cpu", "interpret", "msl-host", "metal"):
        try:
            resolve_backend(name)
            detail = _DETAILS.get(name, _no_detail)()
        except BackendError as error:
            yield Finding("backends", name, "not here", "missing", str(error).partition("; ")[0])
        except Exception as error:  # whatever keeps a backend from working is what was asked for
            yield Finding("backends", name, "not here", "missing", str(error))
        else:
            yield Finding("backends", name, "available", note=detail)


def _no_detail() -> str:
    return ""


def _compiler_of_cpu() -> str:
    llvm: Any = importlib.import_module("llvmlite.binding")
    return f"LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def _compiler_of_host() -> str:
    from eas.msl.host.toolchain import find_toolchain

    toolchain = find_toolchain()
    path, *words = toolchain.compiler
    return f"{'clang of the wheel ziglang' if words else toolchain.version}: {path}"


_DETAILS: dict[str, Callable[[], str]] = {
    "cpu": _compiler_of_cpu,
    "msl-host": _compiler_of_host,
}


def _metal() -> Iterator[Finding]:
    try:
        framework = load_framework()
        with framework.objc.autorelease_pool():
            default = find_device(framework)
            found = list(framework.metal.MTLCopyAllDevices()) or [default]
            info = framework.foundation.NSProcessInfo.processInfo().operatingSystemVersion()
            system = (info.majorVersion, info.minorVersion)
            devices = [(each, each.name(), _families(framework, each)) for each in found]
            used = default.name()
            version = _language(framework, default, system)
    except MetalError as error:
        yield Finding("metal", "devices", "none", "missing", error.message)
        return
    for _, name, families in devices:
        is_used = "it is used; " * (name == used)
        yield Finding("metal", "device", name, note=f"{is_used}families {', '.join(families)}")
    yield Finding("metal", "macOS", f"{system[0]}.{system[1]}")
    if version is None:
        note = "kernels need Metal 2.3: macOS 11 and a GPU of the family Apple7 or Mac2"
        yield Finding("metal", "language", "too old", "wrong", note)
    else:
        yield Finding("metal", "language", f"Metal {version[0]}.{version[1]} or later")


def _families(framework: Any, raw: Any) -> list[str]:
    known = [(name, framework.constant(f"MTLGPUFamily{name}")) for name in _FAMILIES]
    return [name for name, number in known if number >= 0 and raw.supportsFamily_(number)]


def _language(framework: Any, raw: Any, system: tuple[int, int]) -> tuple[int, int] | None:
    """The newest version of Metal's language that a kernel may need, and that is here."""
    here = [
        version
        for version, need in NEEDS.items()
        if system >= need.system
        and any(raw.supportsFamily_(framework.constant(name)) for name in need.families)
    ]
    return max(here, default=None)


def _caches() -> Iterator[Finding]:
    kinds = {".o": "code of the backend cpu", ".so": "texts that clang compiled"}
    state = examine()
    if state.folder is None:
        yield Finding("caches", "folder", "none", "wrong", state.problem)
        return
    status: Status = "wrong" if state.problem else "ok"
    yield Finding("caches", "folder", str(state.folder), status, state.problem)
    for suffix, what in kinds.items():
        count, size = state.sizes.get(suffix, (0, 0))
        yield Finding("caches", what, f"{count} files, {_megabytes(size)}")
    if state.damaged:
        note = "they are not used, and are made anew; remove the folder to be rid of them"
        yield Finding("caches", "damaged files", str(state.damaged), "wrong", note)
    yield _tuning()


def _tuning() -> Finding:
    from eas.tuned_choices import tuning_file

    path = tuning_file()
    if path is None or not os.path.exists(path):
        return Finding("caches", "tuning", "none yet", note=str(path or ""))
    return Finding("caches", "tuning", _megabytes(os.path.getsize(path)), note=str(path))


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MB"


def _settings() -> Iterator[Finding]:
    found = {name: value for name, value in sorted(os.environ.items()) if name.startswith("EAS_")}
    for name, value in found.items():
        yield Finding("settings", name, value)
    if not found:
        yield Finding("settings", "variables", "none", note="EAS_BACKEND and its like are not set")


def probe_torch() -> list[Finding]:
    """What the torch of this machine can do with tensors on `mps`, before they are exchanged."""
    if importlib.util.find_spec("torch") is None:
        return [Finding("torch", "torch", "not installed", "missing", "pip install torch")]
    torch: Any = importlib.import_module("torch")
    found = [Finding("torch", "torch", torch.__version__)]
    is_there = bool(torch.backends.mps.is_available())
    found.append(Finding("torch", "mps available", str(is_there)))
    if not is_there:
        return found
    x = torch.randn(16, device="mps", dtype=torch.float32)
    found.append(Finding("torch", "x.device", f"{x.device} dtype: {x.dtype}"))
    found.append(Finding("torch", "has __dlpack__", str(hasattr(x, "__dlpack__"))))
    try:
        exchange: Any = importlib.import_module("torch.utils")
        capsule: Any = exchange.dlpack.to_dlpack(x)
    except Exception as error:
        words = f"{type(error).__name__} {error}"
        note = "arrays on `mps` are copied: `tensor.cpu()`"
        return [*found, Finding("torch", "to_dlpack(mps)", f"failed: {words}", "wrong", note)]
    return [*found, Finding("torch", "to_dlpack(mps)", f"ok: {type(capsule).__name__}")]
