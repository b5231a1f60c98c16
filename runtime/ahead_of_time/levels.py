"""Lowering a program for one level: optimised LLVM IR with names of its own, and the arrays of its parameters."""
from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...errors import CompileError
from ...lowering.targets import lowering_for
from ..jit import observer, prepared_parameters, read_messages
from ..specs import Message
from .features import known_features
from .machines import Level, Machine, this_triple

_SYMBOLS = ("entry", "onemlir_free", "onemlir_release")


@dataclass
class LevelCode:
    """What one level contributes to the library."""

    level: Level
    text: str
    """LLVM IR, optimised; `entry` and the others carry the number of the level in their names."""
    parameters: list[np.ndarray]
    messages: dict[int, Message]
    parallel: bool
    """It has loops for the thread pool."""
    features: tuple[str, ...]


def compile_level(program, machine: Machine, number: int) -> LevelCode:
    """Lower for a level, run @prepare on this machine, and optimise the rest for the level's processor."""
    from ...lowering.llvm.assembly import llvm_ir
    from ...lowering.compilation import lower

    level = machine.levels[number]
    entries: dict[str, list] = {}
    with lowering_for(level.target):
        module = lower(program, observe=observer(entries, None))
    messages = read_messages(module)
    parallel = any(_name(op).endswith("_thunk") for op in module.body.operations)
    parameters = prepared_parameters(program, _prepare_code(module, entries), entries, None)
    _drop_prepare(module)
    text = llvm_ir(module, cpu="" if machine.native else level.cpu, triple="" if machine.native else machine.triple)
    features = known_features(_native_features(text)) if machine.native and machine.architecture == "x86_64" else level.features
    return LevelCode(level, renamed(text, number), parameters, messages, parallel, features)


def _name(op) -> str:
    return op.attributes["sym_name"].value if "sym_name" in op.attributes else ""


def _prepare_code(module, entries: dict[str, list]) -> list:
    """Machine code of @prepare alone, for this machine: its result does not depend on who computes it."""
    if "prepare" not in entries:
        return []
    from mlir import ir

    from ...lowering.llvm.float_state import add_float_state
    from ..engine import compile_entries

    copy = ir.Module.parse(module.operation.get_asm(print_generic_op_form=True), module.context)
    _drop(copy, "entry")
    add_float_state(copy, this_triple().split("-")[0].replace("arm64", "aarch64"))
    return compile_entries(copy, ["prepare_entry"], messages=read_messages(module))


def _drop_prepare(module) -> None:
    _drop(module, "prepare_entry")


def _drop(module, name: str) -> None:
    """Without its wrapper a function is unused, and goes with what only it calls."""
    for op in list(module.body.operations):
        if _name(op) == name:
            op.operation.erase()


def renamed(text: str, number: int) -> str:
    """The exported functions of a level, hidden and numbered."""
    for symbol in _SYMBOLS:
        text = re.sub(rf"@{symbol}\b(?!\.)", f"@om_level_{number}_{symbol}", text)
    return re.sub(rf"^define ((?:\w+ )*)(.*@om_level_{number}_)", _hidden, text, flags=re.M)


def _hidden(match: re.Match) -> str:
    words = match.group(1)
    return f"define hidden {words}{match.group(2)}"


def _native_features(text: str) -> str:
    found = re.search(r'"target-features"="([^"]*)"', text)
    if not found:
        raise CompileError("the optimiser did not say which features this processor has")
    return found.group(1)
