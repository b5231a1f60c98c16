"""Modules that hold other modules, or parameters, by number or by name."""
from __future__ import annotations

from typing import Iterable, Iterator, Mapping

from ...errors import OnemlirError
from .module import Module
from .parameter import Parameter


class NumberedModules(Module):
    """Base of the containers whose modules have an order. Those without names of their own are called by their numbers."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __contains__(self, module) -> bool:
        return any(module is other for other in self._modules.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._part(list(self._modules.items())[index])
        return self._modules[self._name(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(self._name(index), module)

    def __delitem__(self, index) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._name(index)]:
            del self._modules[name]
        self._renumber(list(self._modules.items()))

    def append(self, module: Module) -> "NumberedModules":
        """Add a module at the end."""
        number = len(self)
        while str(number) in self._modules:
            number += 1
        self.add_module(str(number), module)
        return self

    def extend(self, modules: Iterable[Module]) -> "NumberedModules":
        """Add modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> "NumberedModules":
        """Put a module before the one at `index`; numbers after it move up."""
        if not isinstance(module, Module):
            raise OnemlirError(f"{type(self).__name__} holds modules, found a {type(module).__name__}")
        items = list(self._modules.items())
        items.insert(index, (str(len(self)), module))
        self._renumber(items)
        return self

    def pop(self, index: int = -1) -> Module:
        """Take a module out."""
        module = self[index]
        del self[index]
        return module

    def _name(self, index: int) -> str:
        index = index.__index__()
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range for a {type(self).__name__} of {len(self)} modules")
        return list(self._modules)[index]

    def _renumber(self, items: list[tuple[str, Module]]) -> None:
        self._modules.clear()
        for number, (name, module) in enumerate(items):
            self._modules[str(number) if name.isdigit() else name] = module


class Sequential(NumberedModules):
    """Modules applied one after another: ``Sequential(a, b)``, or ``Sequential({"first": a, "second": b})`` to name them."""

    def __init__(self, *modules: Module | Mapping[str, Module]):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self.extend(modules)

    def forward(self, x):
        for module in self._modules.values():
            x = module(x)
        return x

    def _part(self, items) -> "Sequential":
        return Sequential(dict(items))


class ModuleList(NumberedModules):
    """A list of modules; the owner's forward says what is done with them."""

    def __init__(self, modules: Iterable[Module] = ()):
        super().__init__()
        self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> "ModuleList":
        return ModuleList([*self, *other])

    def _part(self, items) -> "ModuleList":
        return ModuleList(module for _, module in items)


class ModuleDict(Module):
    """Modules by name, as in a dict."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] = ()):
        super().__init__()
        self.update(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name) -> bool:
        return name in self._modules

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()

    def pop(self, name: str) -> Module:
        """Take a module out."""
        return self._modules.pop(name)

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add the modules of a mapping or of pairs."""
        for name, module in dict(modules.items() if hasattr(modules, "items") else modules).items():
            self.add_module(name, module)


class ParameterList(Module):
    """A list of parameters, called by their numbers; tensors and arrays become parameters."""

    def __init__(self, parameters: Iterable = ()):
        super().__init__()
        self.extend(parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    def __getitem__(self, index):
        return list(self._parameters.values())[index]

    def __setitem__(self, index: int, parameter) -> None:
        self._parameters[list(self._parameters)[index]] = _parameter(parameter)

    def append(self, parameter) -> "ParameterList":
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), _parameter(parameter))
        return self

    def extend(self, parameters: Iterable) -> "ParameterList":
        """Add parameters at the end."""
        for parameter in parameters:
            self.append(parameter)
        return self

    def extra_repr(self) -> str:
        return ", ".join(f"{p.dtype}{p.shape}" for p in self)


class ParameterDict(Module):
    """Parameters by name, as in a dict; tensors and arrays become parameters."""

    def __init__(self, parameters: Mapping | Iterable[tuple] = ()):
        super().__init__()
        for name, parameter in dict(parameters).items():
            self[name] = parameter

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, name) -> bool:
        return name in self._parameters

    def __getitem__(self, name: str) -> Parameter:
        return self._parameters[name]

    def __setitem__(self, name: str, parameter) -> None:
        self.register_parameter(name, _parameter(parameter))

    def __delitem__(self, name: str) -> None:
        del self._parameters[name]

    def keys(self):
        return self._parameters.keys()

    def values(self):
        return self._parameters.values()

    def items(self):
        return self._parameters.items()

    def extra_repr(self) -> str:
        return ", ".join(f"{name}: {p.dtype}{p.shape}" for name, p in self.items())


def _parameter(value) -> Parameter:
    return value if isinstance(value, Parameter) else Parameter(value)
