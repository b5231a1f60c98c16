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

from ..dialect.output_file import write_file
from .source import ending, open_streams, read_source

MODES = ("onnx-to-om", "onemodel-to-om", "om-to-onnx", "mlir-to-llvmir")


@dataclass
class Request:
    """What the command line asks for."""

    mode: str = ""
    filename: str = "-"
    output: str = "-"
    weights: str | None = None
    locations: bool = False

    @property
    def written(self) -> list[str]:
        """The files to write."""
        weights = [] if self.weights is None or self.mode == "om-to-onnx" else [self.weights]
        return weights if self.output == "-" else [self.output, *weights]


class WrongCommandLine(ValueError):
    """Options that make no sense together, or that there are not."""


def main(arguments: list[str] | None = None) -> None:
    """Entry point. Exit status 0; 1 when the input cannot be translated; 2 for a wrong command line."""
    open_streams()
    arguments = sys.argv[1:] if arguments is None else arguments
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return
    try:
        request = parse_arguments(arguments)
    except WrongCommandLine as error:
        print(f"onemlir-translate: {error}", file=sys.stderr)
        sys.exit(2)
    from ..dialect.output_file import check_place

    with ending("onemlir-translate"):
        for path in request.written:
            check_place(path)
        write(*translate(request))


def parse_arguments(arguments: list[str]) -> Request:
    request, rest, files = Request(), iter(arguments), []
    for argument in rest:
        name, _, value = argument.removeprefix("--").partition("=")
        if argument == "-o":
            request.output = next(rest, "")
            if not request.output:
                raise WrongCommandLine("-o needs a file name")
        elif argument == "-" or not argument.startswith("-"):
            files.append(argument)
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
    if len(files) > 1:
        raise WrongCommandLine(f"one input file, found {len(files)}: {', '.join(files)}")
    request.filename = files[0] if files else "-"
    return request


def translate(request: Request) -> tuple[str, bytes]:
    """The output's path and content."""
    if request.mode == "mlir-to-llvmir":
        return request.output, llvmir(read_module(request.filename))
    if request.mode == "om-to-onnx":
        return request.output, onnx_bytes(read_module(request.filename), request.weights)
    return request.output, om_text(request)


def read_module(path: str):
    """The module of a file or of standard input, verified. VerificationError names the places of what is wrong."""
    from ..dialect import bindings
    from ..dialect.verify import check
    from ..lowering.registry import known_passes

    known_passes()
    source, context = read_source(path), bindings.new_context()
    module = bindings.parse_module(source, context) if path == "-" else bindings.parse_file(path, context)
    check(module)
    return module


def om_text(request: Request) -> bytes:
    """The module of a model file; its weights go into a file of their own."""
    from ..traced import from_onnx

    data = sys.stdin.buffer.read() if request.filename == "-" else None
    if request.mode == "onnx-to-om":
        traced = from_onnx(request.filename if data is None else data)
    else:
        traced = _load(request.filename, data)
    if request.weights:
        import numpy as np
        from safetensors.numpy import save_file

        save_file({name: np.array(array) for name, array in traced.parameters.items()}, request.weights)
    return (traced.mlir(request.locations).rstrip("\n") + "\n").encode()


def _load(path: str, data: bytes | None):
    """A .onemodel file, or one from standard input; its weights stay mapped after the file's name is gone."""
    import pathlib
    import tempfile

    from ..errors import OnemlirError
    from ..traced import load

    if data is None:
        return load(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "input.onemodel"
        copy.write_bytes(data)
        try:
            return load(copy)
        except OnemlirError as error:
            raise type(error)(str(error).replace(str(copy), "standard input")) from None


def onnx_bytes(module, weights_path: str | None) -> bytes:
    """An ONNX model of a module and the weights that it names."""
    from ..dialect.onnx import to_onnx
    from ..dialect.program import Program
    from ..errors import FormatError, VerificationError
    from ..lowering.contracts import broken, recorded_entry
    from ..lowering.om.decompose import decompose

    problems = broken(module, (recorded_entry,))
    if problems:
        raise VerificationError("\n".join(map(str, problems)))
    weights = _weights(weights_path) if weights_path else {}
    missing = sorted(set(parameter_names(module)) - set(weights))
    if missing:
        raise FormatError(f"the module names weights that {weights_path or '--weights'} does not have: {', '.join(missing[:5])}")
    return to_onnx(Program(module, weights), decompose=decompose).SerializeToString()


def _weights(path: str) -> dict:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    from ..errors import FormatError

    try:
        return load_file(path)
    except SafetensorError as error:
        raise FormatError(f"{path} is no file of safetensors: {error}") from None


def parameter_names(module) -> list[str]:
    """The weights that a module names."""
    from ..dialect import walk

    return [op.attributes["name"] for op in walk(module) if op.operation.name == "om.parameter"]


def llvmir(module) -> bytes:
    """LLVM IR of a module in the LLVM dialect, not optimized."""
    from mlir.dialects import llvm

    from ..dialect.bindings import Diagnostic, location_text
    from ..errors import VerificationError

    foreign = [op.operation for op in module.body.operations if not op.operation.name.startswith("llvm.")]
    if foreign:
        message = f"'{foreign[0].name}' op is not of the LLVM dialect, which alone can be translated; --om-to-llvm lowers"
        raise VerificationError(str(Diagnostic(location_text(foreign[0].location), message)))
    return llvm.translate_module_to_llvmir(module.operation).encode()


def write(path: str, data: bytes) -> None:
    if path == "-":
        sys.stdout.buffer.write(data)
        return
    write_file(path, data)
