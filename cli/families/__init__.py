"""Common model families, built from `onemlir.nn` with random weights, for `onemlir bench`."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np

from .recurrent import lstm_tagger
from .transformer import decoder, encoder
from .vision import mobilenet_v2, resnet18


@dataclass(frozen=True)
class Family:
    """A model to build and the shape of its input; `integers` is the vocabulary size where the input is token numbers."""

    name: str
    build: Callable
    shape: tuple[int, ...]
    integers: int | None = None

    def example(self, batch: int = 1, seed: int = 0) -> np.ndarray:
        """An input with the given batch."""
        rng = np.random.default_rng(seed)
        shape = (batch, *self.shape)
        return rng.integers(0, self.integers, shape) if self.integers else rng.standard_normal(shape).astype(np.float32)


def mlp():
    """784-512-512-10 with ReLU."""
    from ...frontend import nn

    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


FAMILIES = (
    Family("mlp", mlp, (784,)),
    Family("resnet18", resnet18, (3, 224, 224)),
    Family("mobilenet_v2", mobilenet_v2, (3, 224, 224)),
    Family("encoder", encoder, (128, 256)),
    Family("decoder", decoder, (128,), integers=2000),
    Family("lstm", lstm_tagger, (50, 64)),
)
