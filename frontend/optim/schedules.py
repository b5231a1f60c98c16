"""Learning rates that change from step to step, by torch's names (torch.optim.lr_scheduler) and formulas in closed form."""
from __future__ import annotations

import bisect
import math
from typing import Callable, Sequence

from ...errors import OnemlirError


class Schedule:
    """Base: sets the learning rates of an optimizer's groups. `step` goes on by one; `last_epoch` counts from 0."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.base_lrs = [group["lr"] for group in optimizer.param_groups]
        self.last_epoch = 0
        self._apply()

    def rate(self, base: float, epoch: int) -> float:
        """The learning rate of a group that started with `base`."""
        raise NotImplementedError

    def _apply(self) -> None:
        for group, base in zip(self.optimizer.param_groups, self.base_lrs):
            group["lr"] = self.rate(base, self.last_epoch)

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
        self.last_epoch, self.base_lrs = state["last_epoch"], list(state["base_lrs"])
        self._apply()


class StepLR(Schedule):
    """lr * gamma^(epoch // step_size)."""

    def __init__(self, optimizer, step_size: int, gamma: float = 0.1):
        self.step_size, self.gamma = step_size, gamma
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
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return base * (self.start_factor + (self.end_factor - self.start_factor) * min(epoch, self.total_iters) / self.total_iters)


class CosineAnnealingLR(Schedule):
    """eta_min + (lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2. Source: Loshchilov and Hutter 2017."""

    def __init__(self, optimizer, T_max: int, eta_min: float = 0.0):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2


class LambdaLR(Schedule):
    """lr * lr_lambda(epoch)."""

    def __init__(self, optimizer, lr_lambda: Callable[[int], float]):
        self.lr_lambda = lr_lambda
        super().__init__(optimizer)

    def rate(self, base, epoch):
        return base * self.lr_lambda(epoch)


class OneCycleLR(Schedule):
    """From max_lr / div_factor up to max_lr in pct_start of total_steps, then down to max_lr / div_factor / final_div_factor, along cosines.

    OnemlirError for a step after the last. The momentum stays as it is. Source: Smith and Topin 2017; torch's rates.
    """

    def __init__(self, optimizer, max_lr: float, total_steps: int, pct_start: float = 0.3, div_factor: float = 25.0, final_div_factor: float = 1e4):
        self.max_lr, self.total_steps, self.pct_start = max_lr, total_steps, pct_start
        self.first, self.last = max_lr / div_factor, max_lr / div_factor / final_div_factor
        super().__init__(optimizer)

    def rate(self, base, epoch):
        if epoch >= self.total_steps:
            raise OnemlirError(f"OneCycleLR has {self.total_steps} steps, found step {epoch + 1}")
        top = self.pct_start * self.total_steps - 1
        if epoch <= top:
            return _along_cosine(self.first, self.max_lr, epoch / top)
        return _along_cosine(self.max_lr, self.last, (epoch - top) / (self.total_steps - 1 - top))


def _along_cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


class ReduceLROnPlateau:
    """lr *= factor when the value given to `step` has not become better by the relative `threshold` for more than `patience` steps."""

    def __init__(self, optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4, cooldown: int = 0,
                 min_lr: float = 0.0, eps: float = 1e-8):
        if mode not in ("min", "max") or factor >= 1:
            raise OnemlirError(f"ReduceLROnPlateau: mode must be 'min' or 'max' and factor below 1, found {mode!r} and {factor}")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.cooldown, self.min_lr, self.eps = threshold, cooldown, min_lr, eps
        self.best, self.num_bad_epochs, self.cooldown_counter = math.inf if mode == "min" else -math.inf, 0, 0

    def step(self, metric) -> None:
        """Tell the value of this epoch."""
        value = float(metric)
        better = value < self.best * (1 - self.threshold) if self.mode == "min" else value > self.best * (1 + self.threshold)
        if better:
            self.best = value
        self.num_bad_epochs = 0 if better or self.cooldown_counter else self.num_bad_epochs + 1
        self.cooldown_counter = max(self.cooldown_counter - 1, 0)
        if self.num_bad_epochs > self.patience:
            self._reduce()

    def _reduce(self) -> None:
        self.num_bad_epochs, self.cooldown_counter = 0, self.cooldown
        for group in self.optimizer.param_groups:
            lower = max(group["lr"] * self.factor, self.min_lr)
            if group["lr"] - lower > self.eps:
                group["lr"] = lower

    def get_last_lr(self) -> list[float]:
        """The rates now in use."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict:
        return {"best": self.best, "num_bad_epochs": self.num_bad_epochs, "cooldown_counter": self.cooldown_counter}

    def load_state_dict(self, state: dict) -> None:
        self.__dict__.update(state)
