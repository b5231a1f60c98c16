"""Activations as modules. `inplace`, which torch's have, is accepted and has no effect."""
from __future__ import annotations

from .. import ops
from . import init
from .module import Module
from .parameter import in_graph, new_parameter


class Activation(Module):
    """Base of the activations: what `__init__` names in `settings` is shown when the module is printed."""

    settings: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.settings)


class Parameterless(Activation):
    """Base of the activations without settings."""

    def __init__(self, inplace: bool = False):
        super().__init__()


class ReLU(Parameterless):
    """max(x, 0)."""

    def forward(self, x):
        return ops.relu(x)


class ReLU6(Parameterless):
    """min(max(x, 0), 6)."""

    def forward(self, x):
        return ops.relu6(x)


class LeakyReLU(Activation):
    """x where x >= 0, else negative_slope * x."""

    settings = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False):
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x):
        return ops.leaky_relu(x, self.negative_slope)


class PReLU(Activation):
    """x where x >= 0, else weight * x. weight: (num_parameters,), all `init`; axis 1 of x has num_parameters channels when not 1."""

    settings = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = new_parameter(num_parameters, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.constant_(self.weight, self.init)

    def forward(self, x):
        return ops.prelu(x, in_graph(self.weight))


class ELU(Activation):
    """x where x > 0, else alpha * (exp(x) - 1)."""

    settings = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return ops.elu(x, self.alpha)


class SELU(Parameterless):
    """scale * elu(x, alpha) with the constants that keep mean and variance. Source: Klambauer et al. 2017."""

    def forward(self, x):
        return ops.selu(x)


class CELU(Activation):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""

    settings = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return ops.celu(x, self.alpha)


class GELU(Activation):
    """x * Phi(x); ``approximate="tanh"`` for the tanh form."""

    settings = ("approximate",)

    def __init__(self, approximate: str = "none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, x):
        return ops.gelu(x, approximate=self.approximate)


class SiLU(Parameterless):
    """x * sigmoid(x)."""

    def forward(self, x):
        return ops.silu(x)


class Mish(Parameterless):
    """x * tanh(softplus(x))."""

    def forward(self, x):
        return ops.mish(x)


class Sigmoid(Parameterless):
    """1 / (1 + exp(-x))."""

    def forward(self, x):
        return ops.sigmoid(x)


class LogSigmoid(Parameterless):
    """log(1 / (1 + exp(-x)))."""

    def forward(self, x):
        return ops.logsigmoid(x)


class Tanh(Parameterless):
    """Hyperbolic tangent."""

    def forward(self, x):
        return ops.tanh(x)


class Softsign(Parameterless):
    """x / (1 + |x|)."""

    def forward(self, x):
        return ops.softsign(x)


class Tanhshrink(Parameterless):
    """x - tanh(x)."""

    def forward(self, x):
        return ops.tanhshrink(x)


class Hardsigmoid(Parameterless):
    """min(max(x + 3, 0), 6) / 6."""

    def forward(self, x):
        return ops.hard_sigmoid(x)


class Hardswish(Parameterless):
    """x * min(max(x + 3, 0), 6) / 6."""

    def forward(self, x):
        return ops.hard_swish(x)


class Hardtanh(Activation):
    """x clipped to [min_val, max_val]."""

    settings = ("min_val", "max_val")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False):
        super().__init__()
        self.min_val, self.max_val = min_val, max_val

    def forward(self, x):
        return ops.hardtanh(x, self.min_val, self.max_val)


class Hardshrink(Activation):
    """x where |x| > lambd, else 0."""

    settings = ("lambd",)

    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, x):
        return ops.hardshrink(x, self.lambd)


class Softshrink(Activation):
    """x - lambd where x > lambd, x + lambd where x < -lambd, else 0."""

    settings = ("lambd",)

    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, x):
        return ops.softshrink(x, self.lambd)


class Softplus(Activation):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""

    settings = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, x):
        return ops.softplus(x, self.beta, self.threshold)


class Threshold(Activation):
    """x where x > threshold, else value."""

    settings = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__()
        self.threshold, self.value = threshold, value

    def forward(self, x):
        return ops.threshold(x, self.threshold, self.value)


class GLU(Activation):
    """a * sigmoid(b), where a and b are the two halves of x along `dim`."""

    settings = ("dim",)

    def __init__(self, dim: int = -1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return ops.glu(x, axis=self.dim)


class Softmax(Activation):
    """exp(x) / sum(exp(x)) along `dim`; without it along axis 0 for ranks 0, 1 and 3, else along axis 1, as torch does."""

    settings = ("dim",)

    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return ops.softmax(x, axis=_softmax_axis(self.dim, x))


class Softmin(Activation):
    """softmax(-x) along `dim`."""

    settings = ("dim",)

    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return ops.softmin(x, axis=_softmax_axis(self.dim, x))


class LogSoftmax(Activation):
    """x - log(sum(exp(x))) along `dim`; its default as `Softmax`."""

    settings = ("dim",)

    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return ops.log_softmax(x, axis=_softmax_axis(self.dim, x))


class Softmax2d(Activation):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, x):
        return ops.softmax(x, axis=-3)


def _softmax_axis(dim: int | None, x) -> int:
    return dim if dim is not None else 0 if x.ndim in (0, 1, 3) else 1
