"""Reading a model file for a command, and making inputs for it."""
from __future__ import annotations

import pathlib
import zipfile

import numpy as np

from ..dialect import dtypes
from ..dialect.output_file import replacing
from ..errors import FormatError, OnemlirError


def read_model(path: str):
    """The TracedModel in a .onemodel or .onnx file."""
    from ..traced import from_onnx, load

    if not pathlib.Path(path).is_file():
        raise FileNotFoundError(f"no such file: {path}")
    return from_onnx(path) if pathlib.Path(path).suffix == ".onnx" else load(path)


def parse_sizes(texts: list[str]) -> dict[str, int]:
    """``["batch=8"]`` as ``{"batch": 8}``."""
    sizes = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value.isdigit():
            raise OnemlirError(f"a size is given as axis=number, found {text!r}")
        sizes[name] = int(value)
    return sizes


def random_inputs(traced, sizes: dict[str, int], seed: int) -> dict[str, np.ndarray]:
    """Arrays for every input: floats from N(0, 1), integers in 0..9; symbolic axes have the given size, else 1."""
    rng = np.random.default_rng(seed)
    known = {s.name for spec in traced.inputs for size in spec.type.shape if not isinstance(size, int) for s in size.symbols()}
    for name in sizes:
        if name not in known:
            raise OnemlirError(f"the model has no axis '{name}'; it has {', '.join(sorted(known)) or 'none'}")
    values = {name: sizes.get(name, 1) for name in known}
    shape = lambda spec: [s if isinstance(s, int) else s.evaluate(values) for s in spec.type.shape]
    return {spec.name: _random(rng, shape(spec), spec.dtype) for spec in traced.inputs}


def _random(rng, shape, dtype) -> np.ndarray:
    if dtypes.is_floating(dtype):
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 2 if dtype == dtypes.bool_ else 10, shape).astype(dtype)


def write_arrays(path: str, arrays: dict[str, np.ndarray]) -> None:
    """A .npz file; unlike `numpy.savez`, of arrays with any names. OSError as of `replacing`."""
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def read_inputs(path: str, names: list[str]) -> dict[str, np.ndarray]:
    """Arrays by input name from a .npz file, or the single input from a .npy file. FormatError for anything else."""
    try:
        with open(path, "rb") as file:
            if not file.read(6).startswith((b"\x93NUMPY", b"PK")):
                raise ValueError("it starts as neither does")
            file.seek(0)
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                if len(names) != 1:
                    raise FormatError(f"{path} holds one array, but the model has the inputs {', '.join(names)}: give a .npz file")
                return {names[0]: loaded}
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        found = "it holds Python objects, not numbers" if "allow_pickle" in str(error) else error
        raise FormatError(f"{path} is no .npy or .npz file of arrays: {found}") from None
