"""A small transformer that is trained with kernels: `uv run python -m examples.torch_training`.

It learns to find the largest of four digits. Its attention, layer norm and softmax are the
ops of `examples/torch_ops.py`; the same model with torch's own ops reaches the same loss.
"""

from collections.abc import Callable

import torch

from examples.torch_ops import attention, layer_norm, softmax

WIDTH, HEADS, DIGITS, LENGTH = 32, 2, 10, 4

Op = Callable[..., torch.Tensor]


class Block(torch.nn.Module):
    """One layer of attention between two layer norms, and the probabilities of the digits."""

    def __init__(self, norm: Op, attend: Op, probabilities: Op) -> None:
        super().__init__()
        self.norm, self.attend, self.probabilities = norm, attend, probabilities
        self.digits = torch.nn.Embedding(DIGITS, WIDTH)
        self.places = torch.nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.project = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.mix = torch.nn.Linear(WIDTH, WIDTH)
        self.out = torch.nn.Linear(WIDTH, DIGITS)
        self.weights = torch.nn.ParameterList([torch.ones(WIDTH), torch.ones(WIDTH)])
        self.biases = torch.nn.ParameterList([torch.zeros(WIDTH), torch.zeros(WIDTH)])

    def forward(self, digits: torch.Tensor) -> torch.Tensor:
        x = self.digits(digits) + self.places
        normed = self.norm(x, self.weights[0], self.biases[0])
        q, k, v = (self.heads(each) for each in self.project(normed).chunk(3, dim=-1))
        mixed = self.attend(q, k, v).transpose(1, 2).reshape(x.shape)
        x = x + torch.relu(self.mix(mixed))
        last = self.norm(x, self.weights[1], self.biases[1]).mean(1)
        return self.probabilities(self.out(last))

    def heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0], LENGTH, HEADS, -1).transpose(1, 2)


def layer_norm_of_torch(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias)


def softmax_of_torch(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


OURS = (layer_norm, attention, softmax)
TORCHS = (
    layer_norm_of_torch,
    torch.nn.functional.scaled_dot_product_attention,
    softmax_of_torch,
)


def train(ops: tuple[Op, Op, Op], steps: int) -> list[float]:
    """Trains a model; gives its loss after each step."""
    torch.manual_seed(0)
    model = Block(*ops)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses: list[float] = []
    for _ in range(steps):
        digits = torch.randint(0, DIGITS, (64, LENGTH))
        right = digits.max(1).values
        chosen = model(digits).gather(1, right[:, None])
        loss = -chosen.clamp_min(1e-9).log().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    ours, torchs = train(OURS, 60), train(TORCHS, 60)
    for step in (0, 20, 40, 59):
        print(f"step {step:2}: loss {ours[step]:.4f}, with torch's ops {torchs[step]:.4f}")


if __name__ == "__main__":
    main()
