"""Runs Metal texts on a CPU: clang compiles them against our own `metal_stdlib`.

The threads of a threadgroup are fibers in a process of its own, so that a kernel can neither hang
nor crash the one that launches it.
"""

from eas.msl.arrays import Bound
from eas.msl.host.build import CHECKED, Builder, Library
from eas.msl.host.checking import check
from eas.msl.host.dispatch import ORDERS, Dispatch
from eas.msl.host.errors import HostError, MslError
from eas.msl.host.findings import KernelFault
from eas.msl.host.inspect import inspect
from eas.msl.host.launch import run
from eas.msl.host.shader import Kernel, Shader, load
from eas.msl.host.worker_client import Host, Limits, default_checked_host, default_host

__all__ = [
    "CHECKED",
    "ORDERS",
    "Bound",
    "Builder",
    "Dispatch",
    "Host",
    "HostError",
    "Kernel",
    "KernelFault",
    "Library",
    "Limits",
    "MslError",
    "Shader",
    "check",
    "default_checked_host",
    "default_host",
    "inspect",
    "load",
    "run",
]
