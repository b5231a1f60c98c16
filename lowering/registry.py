"""The registry of passes: names, documentation, options and position.

A pass is a function of a module, with keyword options:

    @register_pass("count-ops", after="om-decompose")
    def count_ops(module):
        '''Count ops.'''

`after` (or `before`) puts it into the default pipeline next to another pass; without them it runs only where a pipeline names it.
"""
from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping


@dataclass(frozen=True)
class Pass:
    """A named pass. `options` maps option names to their defaults."""

    name: str
    apply: Callable
    after: str | None = None
    before: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    builtin: bool = False

    @property
    def summary(self) -> str:
        """First line of the documentation."""
        return (inspect.getdoc(self.apply) or "").partition("\n")[0]


PASSES: dict[str, Pass] = {}


def register_pass(name: str, *, after: str | None = None, before: str | None = None, builtin: bool = False) -> Callable:
    """Register a function as a pass. Keyword parameters after the module are its options; their defaults give the types."""
    def register(function: Callable) -> Callable:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        options = {p.name.replace("_", "-"): p.default for p in parameters}
        PASSES[name] = Pass(name, function, after, before, options, builtin)
        return function
    return register


def parse_options(definition: Pass, given: Mapping[str, str]) -> dict[str, Any]:
    """Option values from their text, by the types of the defaults. ValueError names an unknown option or a wrong value."""
    values = {}
    for name, text in given.items():
        if name not in definition.options:
            known = ", ".join(definition.options) or "none"
            raise ValueError(f"pass '{definition.name}' has no option '{name}'; its options: {known}")
        default = definition.options[name]
        try:
            value = text.lower() in ("1", "true", "on") if isinstance(default, bool) else type(default)(text) if default is not None else text
        except ValueError:
            raise ValueError(f"option '{name}' of pass '{definition.name}' must be {type(default).__name__}, found {text!r}") from None
        values[name.replace("-", "_")] = value
    return values


def known_passes() -> dict[str, Pass]:
    """All passes: the built-in ones, and those that installed extensions bring."""
    from ..dialect.extensions import load_extensions
    from . import stages  # noqa: F401  registers the built-in passes

    load_extensions("onemlir.passes")
    return PASSES
