"""Base of the optimizers: parameter groups, eager steps, updates as functions, saved state."""
from __future__ import annotations

from typing import Any, Iterable, Mapping

import numpy as np

from .. import ops
from ...dialect.structure import flatten, rebuild
from ...errors import OnemlirError
from ..tensor import Tensor


class Optimizer:
    """Changes parameters by their gradients.

    parameters: tensors, or dicts ``{"params": tensors, "lr": ..., ...}`` with options for a group of them; empty for `init` and `update`
    alone. Eager use: ``loss.backward(); optimizer.step(); optimizer.zero_grad()``. In a recorded training step the same rule is a
    function: ``parameters, state = optimizer.update(parameters, gradients, state)``.
    """

    def __init__(self, parameters: Iterable, **defaults):
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[int, dict[str, Any]] = {}  # by the number of the parameter, over all groups
        if isinstance(parameters, Tensor) or not isinstance(parameters, Iterable):
            raise OnemlirError(f"{type(self).__name__} takes a list of tensors or of groups, found {type(parameters).__name__}")
        given = list(parameters)
        for group in given if given and isinstance(given[0], Mapping) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Add parameters with options of their own. OnemlirError for an unknown option or a tensor that is there already."""
        if not isinstance(group, Mapping) or "params" not in group:
            raise OnemlirError(f"{type(self).__name__}: a group is a dict with 'params', found "
                               f"{sorted(group) if isinstance(group, Mapping) else type(group).__name__}")
        group = {**self.defaults, **group}
        parameters = group["params"]
        group["params"] = [parameters] if isinstance(parameters, Tensor) else list(parameters)
        unknown = set(group) - set(self.defaults) - {"params"}
        if unknown:
            raise OnemlirError(f"{type(self).__name__} has no option {', '.join(sorted(unknown))}; it has {', '.join(self.defaults)}")
        known = {id(p) for other in self.param_groups for p in other["params"]}
        for p in group["params"]:
            if not isinstance(p, Tensor) or p._tape is not None:
                found = "the result of an operation" if isinstance(p, Tensor) else type(p).__name__
                raise OnemlirError(f"{type(self).__name__} takes tensors that are leaves, found {found}")
            if id(p) in known:
                raise OnemlirError(f"{type(self).__name__}: a parameter is given twice")
            known.add(id(p))
        self.check(group)
        self.param_groups.append(group)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raises OnemlirError for options that make no sense."""
        for name in ("lr", "eps", "weight_decay", "momentum", "alpha", "lr_decay"):
            if name in options and not isinstance(options[name], Tensor) and not (_is_number(options[name]) and options[name] >= 0):
                raise OnemlirError(f"{type(self).__name__}: '{name}' must be a number that is not negative, found {options[name]!r}")
        for beta in options.get("betas", ()):
            if not 0 <= beta < 1:
                raise OnemlirError(f"{type(self).__name__}: 'betas' must lie in [0, 1), found {options['betas']}")

    # The rule, for numpy arrays (xp is numpy) and for tensors (xp is onemlir.ops).
    def start(self, xp, parameter, options: Mapping[str, Any]) -> dict[str, Any]:
        """The state of a parameter before the first step."""
        raise NotImplementedError

    def change(self, xp, parameter, gradient, state: Mapping[str, Any], step, options: Mapping[str, Any]) -> tuple:
        """The parameter and its state after a step; `step` counts from 1."""
        raise NotImplementedError

    # Eager.
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for _, _, p in self._parameters():
            keep = p.grad is not None and not set_to_none
            p.grad = Tensor._wrap(np.zeros(p.shape, p.dtype)) if keep else None

    def step(self) -> None:
        """Change the parameters that have a gradient, in place."""
        for number, group, p in self._parameters():
            if p.grad is None:
                continue
            state = self.state.get(number)
            if state is None:
                state = {"step": 0, **self.start(np, p._array, group)}
            step = state["step"] + 1
            rest = {k: v for k, v in state.items() if k != "step"}
            with np.errstate(all="ignore"):
                array, rest = self.change(np, p._array, p.grad._array.astype(p.dtype, copy=False), rest, step, group)
            self.state[number] = {"step": step, **rest}
            p._array = np.asarray(array, p.dtype)
            p._version += 1

    def _parameters(self):
        number = 0
        for group in self.param_groups:
            for p in group["params"]:
                yield number, group, p
                number += 1

    # As functions.
    def init(self, parameters) -> dict:
        """The state for `update`: ``{"step": i64, name: tensors in the structure of the parameters}``."""
        tensors, structure = _leaves(parameters)
        states = [self.start(ops, t, self.defaults) for t in tensors]
        return {"step": Tensor(np.int64(0)), **{name: rebuild(structure, [s[name] for s in states]) for name in (states[0] if states else ())}}

    def update(self, parameters, gradients, state: Mapping, lr=None) -> tuple:
        """The parameters and the state after one step, as new tensors; works on recorded tensors.

        parameters, gradients: tensors in containers of one structure. lr: a number or tensor instead of the optimizer's.
        """
        tensors, structure = _leaves(parameters)
        slopes, _ = _leaves(gradients)
        if len(tensors) != len(slopes):
            raise OnemlirError(f"there are {len(tensors)} parameters but {len(slopes)} gradients")
        options = {**self.defaults, "lr": self.defaults["lr"] if lr is None else lr}
        names = [name for name in state if name != "step"]
        columns = {name: _leaves(state[name])[0] for name in names}
        step = state["step"] + 1
        changed, states = [], []
        for i, (p, g) in enumerate(zip(tensors, slopes)):
            p, rest = self.change(ops, p, g, {name: columns[name][i] for name in names}, step.astype(p.dtype), options)
            changed.append(p)
            states.append(rest)
        return rebuild(structure, changed), {"step": step, **{name: rebuild(structure, [s[name] for s in states]) for name in names}}

    # Saved state.
    def state_dict(self) -> dict:
        """The options of all groups and the state of all parameters, by number, with copies of the arrays."""
        groups, number = [], 0
        for group in self.param_groups:
            count = len(group["params"])
            groups.append({**{k: v for k, v in group.items() if k != "params"}, "params": list(range(number, number + count))})
            number += count
        state = {number: {k: np.array(v) if isinstance(v, np.ndarray) else v for k, v in s.items()} for number, s in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping) -> None:
        """Take over what `state_dict` gave. OnemlirError when the numbers of parameters or a shape differ."""
        found, own = ([len(g["params"]) for g in groups] for groups in (state_dict["param_groups"], self.param_groups))
        if found != own:
            raise OnemlirError(f"the state is of groups with {found} parameters, this optimizer has {own}")
        shapes = {number: p.shape for number, _, p in self._parameters()}
        for number, values in state_dict["state"].items():
            for name, value in values.items():
                if isinstance(value, np.ndarray) and value.shape != shapes[int(number)]:
                    raise OnemlirError(f"'{name}' of parameter {number} has shape {value.shape}, the parameter {shapes[int(number)]}")
        for group, saved in zip(self.param_groups, state_dict["param_groups"]):
            group.update({k: v for k, v in saved.items() if k != "params"})
        self.state = {int(n): {k: np.array(v) if isinstance(v, np.ndarray) else v for k, v in s.items()} for n, s in state_dict["state"].items()}


def _is_number(value) -> bool:
    return isinstance(value, (int, float, np.number))


def _leaves(tree) -> tuple[list[Tensor], Any]:
    leaves: list = []
    structure = flatten(tree, lambda v: isinstance(v, Tensor), leaves)
    return [tensor for _, tensor in leaves], structure
