"""Optimizers with a step size for each element."""
from __future__ import annotations

import math

from .optimizer import Optimizer


class Adam(Optimizer):
    """m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; p -= lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).

    weight_decay: is added to the gradient. amsgrad: the largest v so far takes v's place. Source: Kingma and Ba 2015; Reddi et al. 2018.
    """

    decoupled = False

    def __init__(self, params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
                 amsgrad: bool = False, maximize: bool = False):
        super().__init__(params, lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize)

    def start(self, xp, parameter, options):
        names = ("mean", "square", "largest") if options["amsgrad"] else ("mean", "square")
        return {name: xp.zeros_like(parameter) for name in names}

    def change(self, xp, parameter, gradient, state, step, options):
        (first, second), lr = options["betas"], options["lr"]
        gradient = -gradient if options["maximize"] else gradient
        if options["weight_decay"] and self.decoupled:
            parameter = parameter * (1 - lr * options["weight_decay"])
        elif options["weight_decay"]:
            gradient = gradient + parameter * options["weight_decay"]
        state = {**state, "mean": _toward(state["mean"], gradient, 1 - first),
                 "square": state["square"] * second + gradient * gradient * (1 - second)}
        square = state["square"]
        if options["amsgrad"]:
            square = state["largest"] = xp.maximum(state["largest"], square)
        scale = xp.sqrt(square) / _share(xp, second, step) ** 0.5 + options["eps"]
        return parameter - state["mean"] / scale * (lr / _share(xp, first, step)), state


def _toward(mean, value, share: float):
    """mean * (1 - share) + value * share, exactly the one or the other where they are equal or share is 0 or 1 (torch's lerp)."""
    difference = value - mean
    return mean + difference * share if share < 0.5 else value - difference * (1 - share)


def _share(xp, beta: float, step):
    """1 - beta^step, how much of a running mean the steps so far make up; in f32 without cancellation."""
    if isinstance(step, int) or beta == 0:
        return 1 - beta ** step if beta else 1.0
    return -xp.expm1(step * math.log(beta))


class AdamW(Adam):
    """`Adam` whose weight decay does not pass through the moments: p -= lr * weight_decay * p. Source: Loshchilov and Hutter 2019."""

    decoupled = True

    def __init__(self, params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
                 amsgrad: bool = False, maximize: bool = False):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)


class RMSprop(Optimizer):
    """v = alpha v + (1 - alpha) g^2; p -= lr * g / (sqrt(v) + eps); with momentum, u = momentum * u + that quotient and p -= lr * u.

    centered: v minus the square of the running mean of g. weight_decay: is added to the gradient. Source: Hinton's lecture 6; torch.
    """

    def __init__(self, params, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0, momentum: float = 0,
                 centered: bool = False, maximize: bool = False):
        super().__init__(params, lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum, centered=centered, maximize=maximize)

    def start(self, xp, parameter, options):
        names = ["square", *(["velocity"] if options["momentum"] else []), *(["mean"] if options["centered"] else [])]
        return {name: xp.zeros_like(parameter) for name in names}

    def change(self, xp, parameter, gradient, state, step, options):
        alpha = options["alpha"]
        gradient = -gradient if options["maximize"] else gradient
        if options["weight_decay"]:
            gradient = gradient + parameter * options["weight_decay"]
        state = {**state, "square": state["square"] * alpha + gradient * gradient * (1 - alpha)}
        square = state["square"]
        if options["centered"]:
            state["mean"] = _toward(state["mean"], gradient, 1 - alpha)
            square = square - state["mean"] * state["mean"]
        scale = xp.sqrt(square) + options["eps"]
        if not options["momentum"]:
            return parameter - gradient * options["lr"] / scale, state
        state["velocity"] = state["velocity"] * options["momentum"] + gradient / scale
        return parameter - state["velocity"] * options["lr"], state


class Adagrad(Optimizer):
    """s += g^2; p -= lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps). weight_decay: is added to the gradient. Source: Duchi et al. 2011."""

    def __init__(self, params, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0, initial_accumulator_value: float = 0,
                 eps: float = 1e-10, maximize: bool = False):
        super().__init__(params, lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value,
                         eps=eps, maximize=maximize)

    def start(self, xp, parameter, options):
        return {"square": xp.full_like(parameter, options["initial_accumulator_value"])}

    def change(self, xp, parameter, gradient, state, step, options):
        gradient = -gradient if options["maximize"] else gradient
        if options["weight_decay"]:
            gradient = gradient + parameter * options["weight_decay"]
        square = state["square"] + gradient * gradient
        lr = options["lr"] / (1 + (step - 1) * options["lr_decay"])
        return parameter - gradient / (xp.sqrt(square) + options["eps"]) * lr, {"square": square}
