"""Twenty small programs at which recorders of torch go wrong. Each has the example that is recorded and another input."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import torch


@dataclass(frozen=True)
class Trap:
    """A program (made anew by `make`), its example, another input, the symbolic axes, and what onemlir does: "right" or an error class."""

    name: str
    make: Callable
    example: tuple
    other: tuple
    axes: tuple | None = None
    outcome: str = "right"

    def make_eval(self):
        program = self.make()
        return program.eval() if isinstance(program, torch.nn.Module) else program


def module(forward, **buffers):
    """A module with buffers and this forward."""
    class Made(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, value in buffers.items():
                self.register_buffer(name, value.clone())

    Made.forward = forward
    return Made


def branch(self, x):
    return x * 2 if x.sum() > 0 else x * 3


def loop_on_size(self, x):
    total = x[0]
    for i in range(1, x.shape[0]):
        total = total * 0.5 + x[i]
    return total


def size_one(self, x):
    return x.mean(0) if x.shape[0] > 1 else x.sum(0) * 10


def in_place_slice(self, x):
    y = x.clone()
    y[:, 1:] = y[:, :-1] * 2
    return y


def view_then_mutate(self, x):
    y = x + 0
    row = y.view(-1)
    row[0] = 5
    y.t()[1].add_(1)
    return y, row


def python_float(self, x):
    return x * float(x.max())


def promotion(self, x, n):
    return x + n, n / 2, n * 0.5, n.sum(), x.half() + n


def mask(self, x):
    return x[x > 0]


def nonzero_count(self, x):
    return torch.zeros(x.nonzero().shape[0]) + x.sum()


def dictionary(self, x):
    return {"b": x + 1, "a": (x, [x * 2])}


def none_input(self, x, scale=None):
    return x if scale is None else x * scale


def buffer_update(self, x):
    self.count += 1
    return x * self.count


def buffer_assigned(self, x):
    self.count = self.count + 1
    return x * self.count


def random_numbers(self, x):
    return x + torch.rand(x.shape)


def constant_from_shape(self, x):
    return x / torch.tensor(x.shape[0], dtype=x.dtype)


def item_as_size(self, x):
    return torch.ones(int(x[0].item()))


def input_mutated(self, x):
    x.mul_(2)
    return x + 1


def list_of_rows(self, x):
    return torch.stack([row * (i + 1) for i, row in enumerate(x)])


def numpy_inside(self, x):
    import numpy as np

    return x + torch.from_numpy(np.tanh(x.detach().numpy()))


def assertion(self, x):
    assert x.min() >= 0, "negative"
    return x.sqrt()


ones = torch.ones
two = (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),)
three = (torch.tensor([[-1.0, 2.0], [3.0, -4.0], [5.0, 0.5]]),)
minus = (torch.tensor([[-1.0, -2.0], [-3.0, 4.0]]),)
one = (torch.tensor([[1.0, -2.0]]),)
BATCH = (("batch", None),)
counter = {"count": torch.zeros(())}

TRAPS = [
    Trap("frozen branch", module(branch), two, minus, outcome="TraceError"),
    Trap("loop over a symbolic axis", module(loop_on_size), two, three, BATCH, "TraceError"),
    Trap("branch on batch size", module(size_one), two, one, BATCH, "TraceError"),
    Trap("size-one batch in the example", module(lambda self, x: x.softmax(-1) + x.sum(0)), one, three, BATCH),
    Trap("in-place slice", module(in_place_slice), two, minus),
    Trap("view, then mutate", module(view_then_mutate), two, minus),
    Trap("Python float of data", module(python_float), two, minus, outcome="TraceError"),
    Trap("dtype promotion", module(promotion), (ones(2), torch.tensor([1, 2])), (ones(2) * 3, torch.tensor([5, 0]))),
    Trap("data-dependent shape (mask)", module(mask), two, minus),
    Trap("data-dependent shape (nonzero)", module(nonzero_count), two, (torch.tensor([[0.0, 1.0], [2.0, 0.0]]),)),
    Trap("dict output", module(dictionary), two, minus),
    Trap("None input", module(none_input), (*two, None), (*minus, None)),
    Trap("buffer updated in place", module(buffer_update, **counter), two, minus, outcome="TraceError"),
    Trap("buffer assigned", module(buffer_assigned, **counter), two, minus, outcome="TraceError"),
    Trap("random numbers", module(random_numbers), two, minus, outcome="TraceError"),
    Trap("tensor made of a size", module(constant_from_shape), two, three, BATCH),
    Trap("data as a size", module(item_as_size), (torch.tensor([2.0]),), (torch.tensor([3.0]),), outcome="TraceError"),
    Trap("input mutated", module(input_mutated), two, minus),
    Trap("iteration over a symbolic axis", module(list_of_rows), two, three, BATCH, "TraceError"),
    Trap("numpy inside", module(numpy_inside), two, minus, outcome="TraceError"),
    Trap("assert on data", module(assertion), two, minus, outcome="TraceError"),
]
