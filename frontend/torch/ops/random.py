"""Random functions: dropout is nothing in evaluation mode; the others are refused, for their numbers would be frozen."""
from __future__ import annotations

from ..registry import handles

DROPOUTS = ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d")
RANDOM = ("rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm", "normal", "bernoulli", "multinomial", "poisson", "uniform_",
          "normal_", "random_", "bernoulli_", "exponential_", "F.gumbel_softmax")


def _dropout(name: str):
    def handler(recording, input, p=0.5, training=True, inplace=False, train=None):
        if (training if train is None else train) and p > 0:
            recording.recorder.refuse(name, "in training it is random: pass training=self.training, which is False while a module is recorded")
        return recording.recorded(input)
    return handler


def _refused(name: str):
    def handler(recording, *args, **kwargs):
        recording.recorder.refuse(name, "random numbers have no place in a recording: draw them outside and make them an input")
    return handler


for _name in DROPOUTS:
    handles(_name, f"F.{_name}", kind="raw")(_dropout(_name))
for _name in RANDOM:
    handles(_name, kind="raw")(_refused(_name))


@handles("native_dropout")
def native_dropout(input, p, train=None):
    return input, input
