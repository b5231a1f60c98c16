"""Stochastic gradient descent."""
from __future__ import annotations

from ...errors import OnemlirError
from .optimizer import Optimizer


class SGD(Optimizer):
    """g += weight_decay * p; v = momentum * v + (1 - dampening) * g, v = g at first; p -= lr * v, or lr * (g + momentum * v) with nesterov.

    maximize: goes up instead. Source: torch, whose v is not scaled by lr; Sutskever et al. 2013.
    """

    def __init__(self, params, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0, nesterov: bool = False,
                 maximize: bool = False):
        super().__init__(params, lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov, maximize=maximize)

    def check(self, options):
        super().check(options)
        if options["nesterov"] and (options["momentum"] <= 0 or options["dampening"] != 0):
            raise OnemlirError("SGD: nesterov needs a momentum, and no dampening")

    def start(self, xp, parameter, options):
        return {"velocity": xp.zeros_like(parameter)} if options["momentum"] else {}

    def change(self, xp, parameter, gradient, state, step, options):
        gradient = -gradient if options["maximize"] else gradient
        if options["weight_decay"]:
            gradient = gradient + parameter * options["weight_decay"]
        if not options["momentum"]:
            return parameter - gradient * options["lr"], state
        velocity = state["velocity"] * options["momentum"] + gradient * _undamped(step, options["dampening"])
        direction = gradient + velocity * options["momentum"] if options["nesterov"] else velocity
        return parameter - direction * options["lr"], {"velocity": velocity}


def _undamped(step, dampening: float):
    """1 - dampening, and 1 at the first step."""
    if not dampening:
        return 1.0
    return (1.0 if step == 1 else 1.0 - dampening) if isinstance(step, int) else 1.0 - (step != 1).astype(step.dtype) * dampening
