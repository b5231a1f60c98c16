"""`onemlir-translate`: between files of MLIR and other forms.

    onemlir-translate --onnx-to-om model.onnx                     MLIR in the om dialect
    onemlir-translate --onemodel-to-om model.onemodel
    onemlir-translate --om-to-onnx model.mlir --weights=w.safetensors -o model.onnx
    onemlir-translate --mlir-to-llvmir lowered.mlir               LLVM IR of a module in the LLVM dialect

MLIR in the om dialect names its weights and holds none: --weights=FILE.safetensors is where --onnx-to-om and --onemodel-to-om write them
(nowhere without), and where --om-to-onnx reads them. Other options: -o FILE, --mlir-print-debuginfo.
"""
from __future__ import annotations

import sys
from dataclasses import dataclass

MODES = ("onnx-to-om", "onemodel-to-om", "om-to-onnx", "mlir-to-llvmir")


@dataclass
class Request:
    """What the command line asks for."""

    mode: str = ""
    filename: str = "-"
    output: str = "-"
    weights: str | None = None
    locations: bool = False


class WrongCommandLine(ValueError):
    """Options that make no sense together, or that there are not."""


def main(arguments: list[str] | None = None) -> None:
    """Entry point. Exit status 0; 1 when the input cannot be translated; 2 for a wrong command line."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return
    from ..errors import OnemlirError

    try:
        write(*translate(parse_arguments(arguments)))
    except WrongCommandLine as error:
        print(f"onemlir-translate: {error}", file=sys.stderr)
        sys.exit(2)
    except (OnemlirError, OSError) as error:
        print(f"onemlir-translate: {error}", file=sys.stderr)
        sys.exit(1)


def parse_arguments(arguments: list[str]) -> Request:
    request, rest = Request(), iter(arguments)
    for argument in rest:
        name, _, value = argument.removeprefix("--").partition("=")
        if argument == "-o":
            request.output = next(rest, "-")
        elif argument == "-" or not argument.startswith("-"):
            request.filename = argument
        elif name in MODES:
            if request.mode:
                raise WrongCommandLine(f"one translation at a time, found --{request.mode} and --{name}")
            request.mode = name
        elif name == "weights" and value:
            request.weights = value
        elif name == "mlir-print-debuginfo":
            request.locations = True
        else:
            raise WrongCommandLine(f"no option '{argument}'; --help lists them")
    if not request.mode:
        raise WrongCommandLine(f"which translation? One of {', '.join('--' + m for m in MODES)}")
    return request


def translate(request: Request) -> tuple[str, bytes]:
    """The output's path and content."""
    data = sys.stdin.buffer.read() if request.filename == "-" else open(request.filename, "rb").read()
    if request.mode == "mlir-to-llvmir":
        return request.output, llvmir(data, request.filename)
    if request.mode == "om-to-onnx":
        return request.output, onnx_bytes(data, request)
    return request.output, om_text(data, request)


def om_text(data: bytes, request: Request) -> bytes:
    """The module of a model file; its weights go into a file of their own."""
    from ..traced import from_onnx

    if request.mode == "onnx-to-om":
        traced = from_onnx(data if request.filename == "-" else request.filename)
    else:
        traced = _load(data)
    if request.weights:
        import numpy as np
        from safetensors.numpy import save_file

        save_file({name: np.array(array) for name, array in traced.parameters.items()}, request.weights)
    return (traced.mlir(request.locations).rstrip("\n") + "\n").encode()


def _load(data: bytes):
    """A .onemodel file from its content; its weights stay mapped after the file's name is gone."""
    import pathlib
    import tempfile

    from ..traced import load

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "input.onemodel"
        path.write_bytes(data)
        return load(path)


def onnx_bytes(data: bytes, request: Request) -> bytes:
    """An ONNX model of a module and the weights that it names."""
    from ..dialect import bindings
    from ..dialect.onnx import to_onnx
    from ..dialect.program import Program
    from ..dialect.verify import check
    from ..lowering.om.decompose import decompose
    from ..lowering.registry import known_passes

    known_passes()
    module = bindings.parse_module(data.decode("utf-8"), bindings.new_context(), request.filename)
    check(module)
    weights = {}
    if request.weights:
        from safetensors.numpy import load_file

        weights = load_file(request.weights)
    missing = sorted(set(parameter_names(module)) - set(weights))
    if missing:
        from ..errors import FormatError

        raise FormatError(f"the module names weights that {request.weights or '--weights'} does not have: {', '.join(missing[:5])}")
    return to_onnx(Program(module, weights), decompose=decompose).SerializeToString()


def parameter_names(module) -> list[str]:
    """The weights that a module names."""
    from ..dialect import walk

    return [op.attributes["name"] for op in walk(module) if op.operation.name == "om.parameter"]


def llvmir(data: bytes, filename: str) -> bytes:
    """LLVM IR of a module in the LLVM dialect, not optimized."""
    from mlir.dialects import llvm

    from ..dialect import bindings
    from ..errors import FormatError

    module = bindings.parse_module(data.decode("utf-8"), bindings.new_context(), filename)
    foreign = sorted({op.operation.name for op in module.body.operations if not op.operation.name.startswith("llvm.")})
    if foreign:
        raise FormatError(f"{filename}: only the LLVM dialect can be translated, found {', '.join(foreign)}; --om-to-llvm lowers")
    return llvm.translate_module_to_llvmir(module.operation).encode()


def write(path: str, data: bytes) -> None:
    if path == "-":
        sys.stdout.buffer.write(data)
        return
    with open(path, "wb") as file:
        file.write(data)
