"""Random numbers are refused: a compiled model gives the same outputs for the same inputs."""
from __future__ import annotations

from .registry import reads


@reads("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial")
def read_random(node, ops):
    node.refuse("random numbers have no place in a compiled model: make them an input")
