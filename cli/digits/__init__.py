"""1797 scans of handwritten digits, 8x8 pixels, for the demo and the tutorial; numpy only. Source and licence: README.md."""
from __future__ import annotations

from importlib import resources
from typing import NamedTuple

import numpy as np

CLASSES = 10
HELD_OUT = 360
BRIGHTEST = 16
_SPLIT_SEED = 2024


class Digits(NamedTuple):
    """Images are float32 from 0 to 1, one row of 64 pixels each; labels are int64 from 0 to 9."""

    train_images: np.ndarray
    train_labels: np.ndarray
    held_out_images: np.ndarray
    held_out_labels: np.ndarray


def load() -> Digits:
    """The digits, split in a fixed way into 1437 for training and 360 held out, with the same share of every class."""
    pixels, labels = load_raw()
    images = pixels.reshape(len(pixels), -1).astype(np.float32) / np.float32(BRIGHTEST)
    held_out = _held_out(labels)
    labels = labels.astype(np.int64)
    return Digits(images[~held_out], labels[~held_out], images[held_out], labels[held_out])


def load_raw() -> tuple[np.ndarray, np.ndarray]:
    """All scans as they were published: uint8 pixels [1797, 8, 8] from 0 to 16, and uint8 labels [1797]."""
    with (resources.files(__package__) / "digits.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return arrays["images"], arrays["labels"]


def load_weights() -> dict[str, np.ndarray]:
    """The trained classifier that train.py made: Linear(64, 64), ReLU, Linear(64, 32), ReLU, Linear(32, 10).

    The names are those of a sequential module, ``0.weight`` [64, 64] to ``4.bias`` [10]; a weight is [outputs, inputs].
    """
    from safetensors.numpy import load as load_safetensors

    return load_safetensors((resources.files(__package__) / "weights.safetensors").read_bytes())


def _held_out(labels: np.ndarray) -> np.ndarray:
    """Which samples are held out: of each class its share of HELD_OUT, chosen at random but always the same."""
    counts = np.bincount(labels, minlength=CLASSES)
    shares = counts * HELD_OUT / len(labels)
    quotas = shares.astype(int)
    short = HELD_OUT - quotas.sum()
    quotas[np.argsort(quotas - shares, kind="stable")[:short]] += 1
    order = np.random.RandomState(_SPLIT_SEED).permutation(len(labels))  # RandomState: numpy never changes its stream
    chosen = np.zeros(len(labels), bool)
    for digit, quota in enumerate(quotas):
        chosen[order[labels[order] == digit][:quota]] = True
    return chosen
