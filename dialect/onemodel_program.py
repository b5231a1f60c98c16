"""Programs in .onemodel files."""
from __future__ import annotations

import os

import numpy as np

from ..errors import FormatError, OnemlirError
from . import onemodel
from .program import Program, TensorSpec
from .shapes import FRESH

OPSET_VERSION = 1
VERIFIED_BYTES = 1 << 30
"""Weights up to this size are compared with their checksum when a file is read: a fraction of a second, far less than compiling takes."""


def save_program(program: Program, path: str | os.PathLike) -> None:
    """Write a program: its IR as text with locations, its weights, its signature and how its outputs nest."""
    from .. import __version__

    manifest = {
        "producer": f"onemlir {__version__}",
        "opset_version": OPSET_VERSION,
        "inputs": [_spec(s) for s in program.inputs],
        "outputs": [_spec(s) for s in program.outputs],
        "metadata": {"structure": program.structure, "assumptions": list(program.assumptions), **program.metadata},
    }
    used = parameter_names(program)
    onemodel.write(path, manifest, program.mlir(locations=True), {name: np.asarray(program.weights[name]) for name in sorted(used)})


def _spec(spec: TensorSpec) -> dict:
    return {"name": spec.name, "dtype": spec.dtype.name, "axes": list(spec.shape)}


def _without_numbers(specs: list) -> list:
    """Signatures in which sizes that depend on data have no number: earlier versions counted them through a whole process."""
    plain = lambda axis: FRESH.sub(r"\1", axis) if isinstance(axis, str) else axis
    return [[{**spec, "axes": [plain(axis) for axis in spec["axes"]]} for spec in side] for side in specs]


def parameter_names(program: Program) -> set[str]:
    """Names of the weights that the IR uses."""
    from mlir import ir

    names: set[str] = set()

    def visit(operation):
        if operation.name == "om.parameter":
            names.add(ir.StringAttr(operation.attributes["name"]).value)
        return ir.WalkResult.ADVANCE

    program.module.operation.walk(visit)
    return names


def load_program(path: str | os.PathLike, verify: bool | None = None) -> Program:
    """Read a program; weights stay mapped to the file.

    verify: whether the weights are read and compared with their checksum; None does so up to `VERIFIED_BYTES` of them. FormatError when they
    differ, and when file, IR and manifest do not agree.
    """
    from . import bindings
    from .verify import check

    manifest, graph, weights = onemodel.read(path)
    if manifest["opset_version"] > OPSET_VERSION:
        raise FormatError(f"{path}: op-set version {manifest['opset_version']} is newer than {OPSET_VERSION}, the newest that this version reads")
    if verify or (verify is None and weights.nbytes <= VERIFIED_BYTES):
        weights.verify()
    try:
        module = bindings.parse_module(graph, bindings.new_context(), f"{path}:graph.mlir")
        check(module)
        metadata = dict(manifest.get("metadata", {}))
        program = Program(module, weights, metadata.pop("structure", None), metadata.pop("assumptions", []), metadata)
        _check_weights(program)
        stated = [manifest["inputs"], manifest["outputs"]]
        found = [[_spec(s) for s in program.inputs], [_spec(s) for s in program.outputs]]
    except FormatError:
        raise
    except OnemlirError as error:
        raise FormatError(f"{path}: graph.mlir is invalid: {error}") from None
    if _without_numbers(stated) != _without_numbers(found):
        raise FormatError(f"{path}: the manifest states {stated}, the graph has {found}")
    return program


def _check_weights(program: Program) -> None:
    from mlir import ir

    def visit(operation):
        if operation.name == "om.parameter":
            name = ir.StringAttr(operation.attributes["name"]).value
            if name not in program.weights:
                raise FormatError(f"the graph uses the weight '{name}', which the file does not have")
            check_weight(name, program.weights[name], operation.results[0].type)
        return ir.WalkResult.ADVANCE

    problems: list[FormatError] = []

    def guarded(operation):
        try:
            return visit(operation)
        except FormatError as error:
            problems.append(error)
            return ir.WalkResult.INTERRUPT

    program.module.operation.walk(guarded)
    if problems:
        raise problems[0]


def check_weight(name: str, array: np.ndarray, type) -> None:
    """FormatError when an array does not have the type that the IR writes for it."""
    from .program import weight_type
    from .verify import fits

    if not fits(weight_type(array), type):
        raise FormatError(f"the weight '{name}' is {array.dtype}{array.shape}, the graph expects {type}")
