"""Constructors of modules, and functions that make tensors, refuse arguments of a wrong kind with errors of ours."""
import inspect

import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops

GOOD = {"in_features": 2, "out_features": 3, "in1_features": 2, "in2_features": 2, "in_channels": 2, "out_channels": 2, "kernel_size": 3,
        "num_features": 4, "embed_dim": 4, "num_heads": 2, "num_embeddings": 5, "embedding_dim": 3, "normalized_shape": (3,), "num_groups": 2,
        "num_channels": 4, "size": 3, "padding": 1, "value": 1.0, "norm_type": 2.0, "output_size": 2, "input_size": 3, "hidden_size": 4,
        "upscale_factor": 2, "downscale_factor": 2, "dim": 1, "unflattened_size": (1, 2), "threshold": 0.5, "d_model": 4, "nhead": 2}
BAD = [-3, 2.5, "a", None, (1, "b"), object(), True, float("nan"), np.ones(3)]
MODULES = [c for _, c in inspect.getmembers(nn, inspect.isclass) if issubclass(c, nn.Module)
           and {p.name for p in list(inspect.signature(c).parameters.values()) if p.default is p.empty} <= set(GOOD)]


@pytest.mark.parametrize("kind", MODULES, ids=lambda c: c.__name__)
def test_a_wrong_argument_is_an_error_of_ours_or_fine(kind):
    parameters = inspect.signature(kind).parameters.values()
    needed = {p.name: GOOD[p.name] for p in parameters if p.default is p.empty}
    kind(**needed)
    for name in (p.name for p in parameters if not p.name.startswith(("custom_", "scale_factor", "modules", "parameters"))):
        for value in BAD:
            try:
                kind(**{**needed, name: value})
            except om.OnemlirError:
                pass


@pytest.mark.parametrize("make, words", [
    (lambda: nn.Linear(2, -3), "Linear: 'out_features' must be an int that is not negative, found -3"),
    (lambda: nn.Linear(2.5, 3), "Linear: 'in_features' must be an int.*2.5"),
    (lambda: nn.Conv2d(1, 1, (3, "a")), "Conv2d: 'kernel_size' must be an int .* or a sequence of ints"),
    (lambda: nn.Dropout("a"), "Dropout: 'p' must be a number"),
    (lambda: om.tensor([[1, 2], [3]]), "lengths differ"),
    (lambda: om.tensor(2**70), "1180591620717411303424 does not fit"),
    (lambda: om.tensor([1, None]), r"found NoneType in it"),
    (lambda: om.tensor(None), "tensor of None"),
    (lambda: om.zeros((2**62, 4)), "larger than any memory"),
    (lambda: om.arange("a"), "'stop' must be a number"),
    (lambda: om.arange(float("nan")), "finite"),
    (lambda: om.linspace(0, 1, -1), "'num' must not be negative"),
    (lambda: om.eye(2.5), "'rows' must be an int"),
    (lambda: om.rand(-1), "negative size -1"),
    (lambda: om.randn("a"), "sequence of sizes"),
    (lambda: om.randint(0, 2**70, (2,)), "does not fit int64"),
    (lambda: om.zeros_like(None), "tensor of None"),
    (lambda: om.full((2,), None), "tensor of None"),
    (lambda: om.manual_seed(-1), "non-negative"),
    (lambda: ops.random_uniform("a", (2,)), "tensor of 'a'"),
    (lambda: ops.random_uniform(1, "a"), "'shape'"),
])
def test_what_the_message_says(make, words):
    with pytest.raises(om.OnemlirError, match=words):
        make()


def test_a_subclass_of_the_user_is_not_restricted():
    class Own(nn.Linear):
        def __init__(self, width: int):
            super().__init__(3, int(width))

    assert Own("4").out_features == 4


def test_keys_are_64_bits():
    assert ops.random_bits(2**70 + 5, (2,)).tolist() == ops.random_bits(5, (2,)).tolist()
    assert ops.random_bits(-1, (2,)).tolist() == ops.random_bits(om.tensor(-1), (2,)).tolist()
