"""Functions that fill a tensor in place with initial values. Each returns the tensor.

`fan_in` and `fan_out` of a weight (out, in, *kernel) are in * prod(kernel) and out * prod(kernel). Random numbers come from the
generator that `onemlir.manual_seed` seeds. Names, definitions and defaults are torch's (torch.nn.init).
"""
from __future__ import annotations

import math

import numpy as np

from ...errors import OnemlirError, ShapeError
from ..dispatch import current_recorder
from ..random import generator
from ..tensor import Tensor

_GAINS = {"relu": math.sqrt(2), "tanh": 5 / 3, "selu": 3 / 4}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through a nonlinearity; `param` is the slope of leaky_relu (0.01 unless given)."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity in ("linear", "sigmoid") or nonlinearity.startswith("conv"):
        return 1.0
    raise OnemlirError(f"no gain is known for {nonlinearity!r}; there is one for linear, conv1d, conv2d, conv3d, conv_transpose1d, "
                       "conv_transpose2d, conv_transpose3d, sigmoid, tanh, relu, leaky_relu, selu")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Numbers drawn uniformly from [a, b)."""
    return fill(tensor, generator().uniform(a, b, tensor.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Numbers drawn from the normal distribution N(mean, std^2)."""
    return fill(tensor, generator().normal(mean, std, tensor.shape))


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Numbers drawn from N(mean, std^2), those outside [a, b] drawn again."""
    if not (a < b and std > 0 and a < mean + 8 * std and b > mean - 8 * std):
        raise OnemlirError(f"[{a}, {b}] must be an interval near {mean}, the mean (std {std})")
    values = generator().normal(mean, std, tensor.shape)
    while (outside := (values < a) | (values > b)).any():
        values[outside] = generator().normal(mean, std, int(outside.sum()))
    return fill(tensor, values)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Every element `val`."""
    return fill(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Every element 1."""
    return fill(tensor, 1)


def zeros_(tensor: Tensor) -> Tensor:
    """Every element 0."""
    return fill(tensor, 0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix; the tensor has two axes."""
    _need_rank(tensor, 2, 2, "eye_")
    return fill(tensor, np.eye(*tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution weight that passes each channel on unchanged: 1 in the middle of the kernel of its own channel."""
    _need_rank(tensor, 3, 5, "dirac_")
    if tensor.shape[0] % groups:
        raise ShapeError(f"dirac_: {tensor.shape[0]} output channels do not divide into {groups} groups")
    values = np.zeros(tensor.shape)
    middle = tuple(size // 2 for size in tensor.shape[2:])
    per_group = tensor.shape[0] // groups
    for channel in range(min(per_group, tensor.shape[1])):
        values[(slice(channel, None, per_group), channel, *middle)] = 1
    return fill(tensor, values)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """U(-a, a) with a = gain * sqrt(6 / (fan_in + fan_out)). Source: Glorot and Bengio 2010."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """N(0, s^2) with s = gain * sqrt(2 / (fan_in + fan_out)). Source: Glorot and Bengio 2010."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fans(tensor))))


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """U(-b, b) with b = gain * sqrt(3 / fan). Source: He et al. 2015."""
    bound = math.sqrt(3) * _kaiming_deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """N(0, s^2) with s = gain / sqrt(fan). Source: He et al. 2015."""
    return normal_(tensor, 0.0, _kaiming_deviation(tensor, a, mode, nonlinearity))


def orthogonal_(tensor: Tensor, gain: float = 1) -> Tensor:
    """A (semi-)orthogonal matrix times `gain`; axes after the first count as one. Source: Saxe et al. 2013."""
    if tensor.ndim < 2:
        raise ShapeError(f"orthogonal_ needs a tensor of rank 2 or more, found shape {tensor.shape}")
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    q, r = np.linalg.qr(generator().normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r))  # makes the distribution uniform
    return fill(tensor, gain * (q.T if rows < columns else q).reshape(tensor.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01) -> Tensor:
    """A matrix of N(0, std^2) in which the fraction `sparsity` of each column is 0."""
    _need_rank(tensor, 2, 2, "sparse_")
    values = generator().normal(0, std, tensor.shape)
    zeros = math.ceil(sparsity * tensor.shape[0])
    for column in values.T:
        column[generator().permutation(len(column))[:zeros]] = 0
    return fill(tensor, values)


def fans(tensor: Tensor) -> tuple[int, int]:
    """fan_in and fan_out of a weight. Raises ShapeError below rank 2."""
    if tensor.ndim < 2:
        raise ShapeError(f"fan_in and fan_out need a weight of rank 2 or more, found shape {tensor.shape}")
    kernel = math.prod(tensor.shape[2:])
    return tensor.shape[1] * kernel, tensor.shape[0] * kernel


def linear_default_(weight: Tensor, bias: Tensor | None) -> None:
    """The default of linear layers and convolutions: both from U(-1/sqrt(fan_in), 1/sqrt(fan_in))."""
    kaiming_uniform_(weight, a=math.sqrt(5))
    fan_in = fans(weight)[0]
    if bias is not None and fan_in:
        uniform_(bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))


def fill(tensor: Tensor, values) -> Tensor:
    """Overwrite the elements of an eager tensor. TraceError inside a recording."""
    if current_recorder() is not None:
        current_recorder().refuse("initialising a tensor", "create and initialise modules before the recording")
    tensor._array[...] = values
    tensor._version += 1
    return tensor


def _kaiming_deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise OnemlirError(f"mode must be 'fan_in' or 'fan_out', found {mode!r}")
    fan = fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan) if fan else 0.0


def _need_rank(tensor: Tensor, least: int, most: int, what: str) -> None:
    if not least <= tensor.ndim <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        raise ShapeError(f"{what} needs a tensor of rank {expected}, found shape {tensor.shape}")
