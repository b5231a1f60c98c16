"""Learning rates that change from step to step, by torch's names (torch.optim.lr_scheduler) and formulas in closed form."""
from __future__ import annotations

import bisect
import math
from typing import Callable, Sequence

from ...errors import OnemlirError


class Schedule:
    """Base: sets the learning rates of an optimizer's groups. `step` goes on by one; `last_epoch` counts from 0.

    The rates follow from the `lr` that each group had before its first schedule, which is kept as `initial_lr`. Where something else
    changes the rate too, another schedule or the program, both factors count, as with torch's schedules that can be chained; `chained`
    False sets the rate outright.
    """

    chained = True

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.base_lrs = [group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups]
        self.last_epoch, self._rates = 0, list(self.base_lrs)
        self._apply()

    def rate(self, base: float, epoch: int) -> float:
        """The learning rate of a group that started with `base`."""
        raise NotImplementedError

    def rates(self, epoch: int) -> list[float]:
        """The learning rates of all groups."""
        return [self.rate(base, epoch) for base in self.base_lrs]

    def _apply(self) -> None:
        before, self._rates = self._rates, self.rates(self.last_epoch)
        for group, old, new in zip(self.optimizer.param_groups, before, self._rates):
            alone = not self.chained or group["lr"] == old or old == 0
            group["lr"] = new if alone else group["lr"] * (new / old)

    def step(self) -> None:
        """Go on by one."""
        self.last_epoch += 1
        self._apply()

    def get_last_lr(self) -> list[float]:
        """The rates now in use."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict:
        return {"last_epoch": self.last_epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state: dict) -> None:
        """Take over what `state_dict` gave. A rate that something else has set, `load_state_dict` of the optimizer for one, stays."""
        self.last_epoch, self.base_lrs = state["last_epoch"], list(state["base_lrs"])
        before, self._rates = self._rates, self.rates(self.last_epoch)
        for group, old, new in zip(self.optimizer.param_groups, before, self._rates):
            group["lr"] = new if group["lr"] == old else group["lr"]


class StepLR(Schedule):
    """lr * gamma^(epoch // step_size)."""

    def __init__(self, optimizer, step_size: int, gamma: float = 0.1):
        self.step_size, self.gamma = _positive("StepLR: step_size", step_size), gamma
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return base * self.gamma ** (epoch // self.step_size)


class MultiStepLR(Schedule):
    """lr * gamma^(number of milestones reached)."""

    def __init__(self, optimizer, milestones: Sequence[int], gamma: float = 0.1):
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return base * self.gamma ** bisect.bisect_right(self.milestones, epoch)


class ExponentialLR(Schedule):
    """lr * gamma^epoch."""

    def __init__(self, optimizer, gamma: float):
        self.gamma = gamma
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return base * self.gamma ** epoch


class LinearLR(Schedule):
    """lr times a factor that goes from start_factor to end_factor in total_iters steps."""

    def __init__(self, optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5):
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise OnemlirError(f"LinearLR: start_factor must lie in (0, 1] and end_factor in [0, 1], found {start_factor} and {end_factor}")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer)

    def rate(self, base, epoch):
        share = min(epoch, self.total_iters) / self.total_iters if self.total_iters else 0
        return base * (self.start_factor + (self.end_factor - self.start_factor) * share)


class ConstantLR(Schedule):
    """lr * factor for total_iters steps, then lr."""

    def __init__(self, optimizer, factor: float = 1 / 3, total_iters: int = 5):
        if not 0 < factor <= 1:
            raise OnemlirError(f"ConstantLR: factor must lie in (0, 1], found {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return base * self.factor if epoch < self.total_iters else base


class PolynomialLR(Schedule):
    """lr * (1 - epoch / total_iters)^power, 0 after total_iters steps."""

    def __init__(self, optimizer, total_iters: int = 5, power: float = 1.0):
        self.total_iters, self.power = _positive("PolynomialLR: total_iters", total_iters), power
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return base * (1 - min(epoch, self.total_iters) / self.total_iters) ** self.power


class CosineAnnealingLR(Schedule):
    """eta_min + (lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2. Source: Loshchilov and Hutter 2017."""

    def __init__(self, optimizer, T_max: int, eta_min: float = 0.0):
        self.T_max, self.eta_min = _positive("CosineAnnealingLR: T_max", T_max), eta_min
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2


class LambdaLR(Schedule):
    """lr * lr_lambda(epoch); one function, or one for each group."""

    chained = False

    def __init__(self, optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]):
        self.lr_lambdas = _for_groups("LambdaLR: lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer)

    def rates(self, epoch):
        return [base * function(epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]


class OneCycleLR(Schedule):
    """From max_lr / div_factor up to max_lr in pct_start of the steps, then down to max_lr / div_factor / final_div_factor.

    max_lr: a number, or one for each group. total_steps, or epochs and steps_per_epoch. anneal_strategy: "cos" or "linear". OnemlirError
    for a step after the last. The momentum stays as it is. Source: Smith and Topin 2017; torch's rates.
    """

    chained = False

    def __init__(self, optimizer, max_lr: float | Sequence[float], total_steps: int | None = None, epochs: int | None = None,
                 steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos", *, div_factor: float = 25.0,
                 final_div_factor: float = 1e4):
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise OnemlirError("OneCycleLR: give total_steps, or epochs and steps_per_epoch")
        if anneal_strategy not in ("cos", "linear") or not 0 <= pct_start <= 1:
            raise OnemlirError(f"OneCycleLR: anneal_strategy must be 'cos' or 'linear' and pct_start between 0 and 1, "
                               f"found {anneal_strategy!r} and {pct_start}")
        self.total_steps = _positive("OneCycleLR: total_steps", total_steps if total_steps is not None else epochs * steps_per_epoch)
        self.pct_start = pct_start
        self.div_factor, self.final_div_factor = div_factor, final_div_factor
        self._along = _along_cosine if anneal_strategy == "cos" else _along_line
        self.max_lrs = _for_groups("OneCycleLR: max_lr", max_lr, optimizer)
        super().__init__(optimizer)

    def rates(self, epoch):
        if epoch >= self.total_steps:
            raise OnemlirError(f"OneCycleLR has {self.total_steps} steps, found step {epoch + 1}")
        return [self.rate(top, epoch) for top in self.max_lrs]

    def rate(self, base, epoch):
        """The rate of a group whose largest one is `base`."""
        first, top = base / self.div_factor, self.pct_start * self.total_steps - 1
        if epoch <= top:
            return self._along(first, base, epoch / top if top else 1.0)
        return self._along(base, first / self.final_div_factor, (epoch - top) / (self.total_steps - 1 - top))


class SequentialLR(Schedule):
    """One schedule after another: the next one starts, at its step 0, when an epoch of `milestones` is reached.

    schedulers: schedules of this optimizer, one more than milestones; they are not stepped by themselves.
    """

    chained = False

    def __init__(self, optimizer, schedulers: Sequence[Schedule], milestones: Sequence[int]):
        if len(schedulers) != len(milestones) + 1 or list(milestones) != sorted(milestones):
            raise OnemlirError(f"SequentialLR: milestones must rise, and be one fewer than the {len(schedulers)} schedulers, "
                               f"found {list(milestones)}")
        if any(s.optimizer is not optimizer for s in schedulers):
            raise OnemlirError("SequentialLR: all schedulers must be of the optimizer that is given")
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        super().__init__(optimizer)

    def rates(self, epoch):
        number = bisect.bisect_right(self.milestones, epoch)
        return self.schedulers[number].rates(epoch - (self.milestones[number - 1] if number else 0))


def _positive(what: str, value: int) -> int:
    if value <= 0:
        raise OnemlirError(f"{what} must be positive, found {value}")
    return value


def _for_groups(what: str, value, optimizer) -> list:
    """One value for each group of the optimizer."""
    count = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(values) != count:
        raise OnemlirError(f"{what} must be one, or one for each of {count} groups, found {len(values)}")
    return values


def _along_line(start: float, end: float, share: float) -> float:
    return start + (end - start) * share


def _along_cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


class ReduceLROnPlateau:
    """lr *= factor when the value given to `step` has not become better by `threshold` for more than `patience` steps.

    threshold_mode: "rel", a share of the best value, or "abs". min_lr: a number, or one for each group.
    """

    def __init__(self, optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
                 threshold_mode: str = "rel", cooldown: int = 0, min_lr: float | Sequence[float] = 0.0, eps: float = 1e-8):
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs") or factor >= 1:
            raise OnemlirError(f"ReduceLROnPlateau: mode must be 'min' or 'max', threshold_mode 'rel' or 'abs' and factor below 1, "
                               f"found {mode!r}, {threshold_mode!r} and {factor}")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs = _for_groups("ReduceLROnPlateau: min_lr", min_lr, optimizer)
        self.best, self.num_bad_epochs, self.cooldown_counter = math.inf if mode == "min" else -math.inf, 0, 0

    def step(self, metric) -> None:
        """Tell the value of this epoch."""
        value = float(metric)
        better = self._better(value)
        if better:
            self.best = value
        self.num_bad_epochs = 0 if better or self.cooldown_counter else self.num_bad_epochs + 1
        self.cooldown_counter = max(self.cooldown_counter - 1, 0)
        if self.num_bad_epochs > self.patience:
            self._reduce()

    def _better(self, value: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        limit = self.best * (1 + sign * self.threshold) if self.threshold_mode == "rel" else self.best + sign * self.threshold
        return sign * value > sign * limit

    def _reduce(self) -> None:
        self.num_bad_epochs, self.cooldown_counter = 0, self.cooldown
        for group, least in zip(self.optimizer.param_groups, self.min_lrs):
            lower = max(group["lr"] * self.factor, least)
            if group["lr"] - lower > self.eps:
                group["lr"] = lower

    def get_last_lr(self) -> list[float]:
        """The rates now in use."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict:
        return {"best": self.best, "num_bad_epochs": self.num_bad_epochs, "cooldown_counter": self.cooldown_counter}

    def load_state_dict(self, state: dict) -> None:
        self.__dict__.update(state)
