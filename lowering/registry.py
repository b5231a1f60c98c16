"""The registry of passes: names, documentation, options and position.

A pass is a function of a module, with keyword options:

    @register_pass("count-ops", after="om-decompose")
    def count_ops(module):
        '''Count ops.'''

`after` (or `before`) puts it into the default pipeline next to another pass; without them it runs only where a pipeline names it.
"""
from __future__ import annotations

import inspect
import re
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
    requires: tuple[Callable, ...] = ()
    builtin: bool = False

    @property
    def summary(self) -> str:
        """First line of the documentation."""
        return (inspect.getdoc(self.apply) or "").partition("\n")[0]


PASSES: dict[str, Pass] = {}
NAME = re.compile(r"[A-Za-z][\w.-]*")


def register_pass(name: str, *, after: str | None = None, before: str | None = None, requires: tuple[Callable, ...] = (),
                  builtin: bool = False) -> Callable:
    """Register a function as a pass. Keyword parameters after the module are its options; their defaults give the types.

    requires: what the pass accepts, as functions of `lowering.contracts`. ValueError for a name that a pipeline cannot hold or that a
    built-in pass has, and for an option without a default.
    """
    def register(function: Callable) -> Callable:
        PASSES[name] = Pass(name, function, after, before, _options_of(name, function), requires, builtin)
        return function

    if not NAME.fullmatch(name):
        raise ValueError(f"a pass is named by letters, digits, '-', '_' and '.', beginning with a letter; found {name!r}")
    if name in PASSES and PASSES[name].builtin and not builtin:
        raise ValueError(f"'{name}' is a built-in pass; choose another name")
    if after and before:
        raise ValueError(f"pass '{name}' has a place after '{after}' and one before '{before}'; give one of them")
    return register


def _options_of(name: str, function: Callable) -> dict[str, Any]:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    for parameter in parameters:
        if parameter.default is parameter.empty:
            raise ValueError(f"option '{parameter.name}' of pass '{name}' needs a default, which gives its type")
    return {p.name.replace("_", "-"): p.default for p in parameters}


def parse_options(definition: Pass, given: Mapping[str, str]) -> dict[str, Any]:
    """Option values from their text, by the types of the defaults. ValueError names an unknown option or a wrong value."""
    values = {}
    for name, text in given.items():
        if name not in definition.options:
            known = ", ".join(definition.options) or "none"
            raise ValueError(f"pass '{definition.name}' has no option '{name}'; its options: {known}")
        default = definition.options[name]
        try:
            values[name.replace("-", "_")] = _value(text, default)
        except ValueError:
            raise ValueError(f"option '{name}' of pass '{definition.name}' must be {type(default).__name__}, found {text!r}") from None
    return values


def _value(text: str, default: Any) -> Any:
    """The text as a value of the default's type; a tuple's items stand between commas. ValueError when it is none."""
    if isinstance(default, bool):
        if text.lower() not in ("", "1", "true", "on", "0", "false", "off"):
            raise ValueError(text)
        return text.lower() in ("", "1", "true", "on")
    if isinstance(default, (tuple, list)):
        kind = type(default[0]) if default else str
        return type(default)(kind(item) for item in text.strip("{}").split(",") if item)
    return text if default is None else type(default)(text)


def known_passes() -> dict[str, Pass]:
    """All passes: the built-in ones, and those that installed extensions bring."""
    from ..dialect.extensions import load_extensions
    from . import passes  # noqa: F401  registers the built-in passes

    load_extensions("onemlir.passes")
    return PASSES
