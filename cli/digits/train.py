"""Trains the demo's classifier with numpy alone and writes weights.safetensors: ``python -m onemlir.cli.digits.train``.

Linear(64, 64), ReLU, Linear(64, 32), ReLU, Linear(32, 10), softmax cross-entropy, Adam with a cosine schedule; gradients
by hand. While training, every second image is shifted by one pixel. The seed is fixed; it takes a few seconds.
Source: D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", 2015, algorithm 1.
"""
from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from . import CLASSES, Digits, load

WIDTHS = (64, 64, 32, CLASSES)
SEED = 7
EPOCHS = 300
BATCH = 64
LEARNING_RATE = 3e-3
DECAY = 0.3
SHIFTED = 0.5
DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0))
TARGET = Path(__file__).with_name("weights.safetensors")

Weights = dict[str, np.ndarray]


def initial(rng: np.random.RandomState) -> Weights:
    """He's initialization. The linear layers are at 0, 2, 4 of the sequence; a weight is [outputs, inputs]."""
    weights: Weights = {}
    for position, (inputs, outputs) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        scale = np.sqrt(2 / inputs)
        weights[f"{2 * position}.weight"] = (scale * rng.standard_normal((outputs, inputs))).astype(np.float32)
        weights[f"{2 * position}.bias"] = np.zeros(outputs, np.float32)
    return weights


def forward(weights: Weights, images: np.ndarray) -> list[np.ndarray]:
    """The input of each linear layer, then the logits."""
    values = [images]
    last = len(WIDTHS) - 2
    for layer in range(last + 1):
        value = values[-1] @ weights[f"{2 * layer}.weight"].T + weights[f"{2 * layer}.bias"]
        values.append(value if layer == last else np.maximum(value, 0))
    return values


def gradients(weights: Weights, images: np.ndarray, labels: np.ndarray) -> Weights:
    """Of the mean cross-entropy: softmax - one_hot at the logits, then back through each layer."""
    *inputs, logits = forward(weights, images)
    error = np.exp(logits - logits.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    error[np.arange(len(labels)), labels] -= 1
    error /= len(labels)
    result: Weights = {}
    for layer in reversed(range(len(inputs))):
        result[f"{2 * layer}.weight"] = error.T @ inputs[layer]
        result[f"{2 * layer}.bias"] = error.sum(axis=0)
        error = (error @ weights[f"{2 * layer}.weight"]) * (inputs[layer] > 0)
    return result


class Adam:
    """Adam with decoupled weight decay; changes the weights in place."""

    def __init__(self, weights: Weights):
        self.weights = weights
        self.step_number = 0
        self.mean = {name: np.zeros_like(value) for name, value in weights.items()}
        self.square = {name: np.zeros_like(value) for name, value in weights.items()}

    def step(self, slopes: Weights, rate: float) -> None:
        self.step_number += 1
        rate *= np.sqrt(1 - 0.999**self.step_number) / (1 - 0.9**self.step_number)
        for name, slope in slopes.items():
            self.mean[name] += 0.1 * (slope - self.mean[name])
            self.square[name] += 0.001 * (slope**2 - self.square[name])
            self.weights[name] *= 1 - rate * DECAY
            self.weights[name] -= rate * self.mean[name] / (np.sqrt(self.square[name]) + 1e-8)


def batches(digits: Digits, rng: np.random.RandomState) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """One epoch in random order."""
    order = rng.permutation(len(digits.train_labels))
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        yield augmented(digits.train_images[chosen], rng), digits.train_labels[chosen]


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


def train(digits: Digits) -> Weights:
    rng = np.random.RandomState(SEED)
    weights = initial(rng)
    optimizer = Adam(weights)
    for epoch in range(EPOCHS):
        rate = LEARNING_RATE * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        for images, labels in batches(digits, rng):
            optimizer.step(gradients(weights, images, labels), rate)
    return weights


def accuracy(weights: Weights, images: np.ndarray, labels: np.ndarray) -> float:
    return float((forward(weights, images)[-1].argmax(axis=1) == labels).mean())


def main(target: Path = TARGET) -> None:
    from safetensors.numpy import save_file

    digits = load()
    weights = train(digits)
    save_file(weights, target)
    target.chmod(0o644)
    print(f"training {accuracy(weights, digits.train_images, digits.train_labels):.2%}, "
          f"held out {accuracy(weights, digits.held_out_images, digits.held_out_labels):.2%}; wrote {target}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
