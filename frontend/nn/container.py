"""Modules that hold other modules."""
from __future__ import annotations

from .module import Module


class Sequential(Module):
    """Modules applied one after another."""

    def __init__(self, *modules: Module):
        super().__init__()
        for number, module in enumerate(modules):
            setattr(self, str(number), module)

    def forward(self, x):
        for module in self._modules.values():
            x = module(x)
        return x

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index):
        modules = list(self._modules.values())
        return Sequential(*modules[index]) if isinstance(index, slice) else modules[index]

    def __iter__(self):
        return iter(self._modules.values())
