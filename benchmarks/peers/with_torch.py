"""torch: its own operators, on tensors over the same memory."""

from typing import Any

import torch

T: Any = torch


def shared(array: Any) -> Any:
    return T.from_numpy(array)


def add(a: Any, b: Any, c: Any) -> None:
    T.add(a, b, out=c)


def saxpy(x: Any, y: Any) -> None:
    y.add_(x, alpha=2.0)


def softmax(x: Any, y: Any) -> None:
    T.softmax(x, dim=1, out=y)


def layernorm(x: Any, weight: Any, bias: Any, y: Any) -> None:
    y.copy_(T.nn.functional.layer_norm(x, (x.shape[1],), weight, bias))


def gelu(x: Any, y: Any) -> None:
    y.copy_(T.nn.functional.gelu(x))


def matmul(a: Any, b: Any, c: Any) -> None:
    T.mm(a, b, out=c)
