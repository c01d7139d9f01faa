"""DLPack's structs and capsules: https://dmlc.github.io/dlpack/latest/."""

from __future__ import annotations

import ctypes
from typing import Any, cast

from eas.ir.types import BF16, BOOL, DTYPES, DType

CPU, METAL = 1, 8  # DLDeviceType
DEVICE_NAMES: dict[int, str] = {
    1: "the CPU",
    2: "CUDA",
    3: "CUDA's host memory",
    4: "OpenCL",
    7: "Vulkan",
    8: "Metal",
    9: "VPI",
    10: "ROCm",
    13: "CUDA's managed memory",
    14: "oneAPI",
}
READ_ONLY, IS_COPIED = 1, 2
VERSION = (1, 1)

PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
USED = {PLAIN: b"used_dltensor", VERSIONED: b"used_dltensor_versioned"}

_CODES = {"i": 0, "u": 1, "f": 2}  # DLDataTypeCode; by the first letter of a dtype


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DLManagedTensor(ctypes.Structure):
    _fields_ = (
        ("tensor", DLTensor),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


Managed = DLManagedTensor | DLManagedTensorVersioned


def data_type(dtype: DType) -> tuple[int, int, int]:
    """DLPack's code, bits and lanes of a dtype."""
    if dtype == BOOL:
        return 6, 8, 1
    return (4 if dtype == BF16 else _CODES[dtype.name[0]]), dtype.bits, 1


DATA_TYPES: dict[tuple[int, int, int], DType] = {data_type(each): each for each in DTYPES.values()}
_CODE_NAMES = ("int", "uint", "float", "opaque", "bfloat", "complex", "bool")


def describe_type(code: int, bits: int, lanes: int) -> str:
    """DLPack's words for a type that tensors do not have."""
    name = _CODE_NAMES[code] if code < len(_CODE_NAMES) else f"type {code} "
    return f"{name}{bits}{f'x{lanes}' if lanes != 1 else ''}"


def _function(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


# The functions get names as addresses, which have to stay valid: those of the bytes above.
new_capsule = _function(
    "PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)
is_valid = _function("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
get_pointer = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
set_name = _function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)

for _name in (PLAIN, VERSIONED, *USED.values()):  # capsules may outlive this module
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_name))

Capsule = type(cast(object, new_capsule(1, None, None)))
