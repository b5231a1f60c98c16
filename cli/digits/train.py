"""Trains the demo's classifier and writes weights.safetensors: ``python -m onemlir.cli.digits.train``.

Linear(64, 64), ReLU, Linear(64, 32), ReLU, Linear(32, 10), softmax cross-entropy, AdamW with a cosine schedule; forward, backward and
update are one compiled graph. While training, every second image is shifted by one pixel. The seed is fixed.
"""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from ... import jit, manual_seed, nn, no_grad, optim, tensor, value_and_grad
from . import Digits, load

SEED = 7
EPOCHS = 300
BATCH = 64
LEARNING_RATE = 1e-2
DECAY = 0.3
SHIFTED = 0.5
DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0))
TARGET = Path(__file__).with_name("weights.safetensors")


def build() -> nn.Module:
    """The classifier, with fresh weights."""
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def augmented(images: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """The images, a share of them shifted by one pixel in one of the four directions."""
    direction = np.where(rng.rand(len(images)) < SHIFTED, rng.randint(len(DIRECTIONS), size=len(images)), -1)
    result = images.copy()
    for number, (down, right) in enumerate(DIRECTIONS):
        result[direction == number] = shifted(images[direction == number], down, right)
    return result


def shifted(images: np.ndarray, down: int, right: int) -> np.ndarray:
    """The images moved by whole pixels; what comes in from outside is black."""
    padded = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    return padded[:, 1 - down : 9 - down, 1 - right : 9 - right].reshape(len(images), 64)


def train(digits: Digits, epochs: int = EPOCHS) -> nn.Module:
    """The trained classifier. The same seed gives the same weights on one machine."""
    manual_seed(SEED)
    rng = np.random.RandomState(SEED)
    model = build()
    optimizer = optim.AdamW((), lr=LEARNING_RATE, weight_decay=DECAY)
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    state = optimizer.init(parameters)

    def loss_of(parameters, images, labels):
        return nn.losses.cross_entropy(nn.functional_call(model, parameters, images), labels)

    @jit
    def step(parameters, state, rate, images, labels):
        loss, gradients = value_and_grad(loss_of)(parameters, images, labels)
        return optimizer.update(parameters, gradients, state, lr=rate)

    for epoch in track(range(epochs), description="Training"):
        rate = tensor(LEARNING_RATE * (1 + np.cos(np.pi * epoch / epochs)) / 2, dtype="float32")
        order = rng.permutation(len(digits.train_labels))
        for start in range(0, len(order) - BATCH + 1, BATCH):  # whole batches, so that one compiled step serves them all
            chosen = order[start : start + BATCH]
            images, labels = augmented(digits.train_images[chosen], rng), digits.train_labels[chosen]
            parameters, state = step(parameters, state, rate, tensor(images), tensor(labels))
    model.load_state_dict(parameters)
    return model


def accuracy(model: nn.Module, images: np.ndarray, labels: np.ndarray) -> float:
    """The share of images that are recognised."""
    with no_grad():
        return float((model(tensor(images)).numpy().argmax(axis=1) == labels).mean())


def main(target: Path = TARGET) -> None:
    digits = load()
    model = train(digits)
    model.save_safetensors(target)
    print(f"training {accuracy(model, digits.train_images, digits.train_labels):.2%}, "
          f"held out {accuracy(model, digits.held_out_images, digits.held_out_labels):.2%}; wrote {target}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
