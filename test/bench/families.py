"""Every family of `onemlir bench` at many sizes, beside onnxruntime, as a table: python test/bench/families.py --help

Variants: `base` (batch 1, mlp 64), `batch8`, `odd` (batch 3, 97 x 131 images, T = 37, d = 100), `symbolic` (the base sizes with a symbolic
batch; the last column is its time over that of fixed sizes) and `onnx` (the family as a torch module, exported by torch; needs torch).
"""
from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import onemlir as om
from onemlir.cli.bench import measure, onnxruntime_session
from onemlir.cli.families import FAMILIES, transformer

VARIANTS = ("base", "batch8", "odd", "symbolic", "onnx")
ODD = {"resnet18": (3, 3, 97, 131), "mobilenet_v2": (3, 3, 97, 131), "encoder": (3, 37, 100), "decoder": (3, 37), "lstm": (3, 37, 64), "mlp": (3, 784)}


def example(family, variant: str) -> np.ndarray:
    if variant == "odd":
        rng, shape = np.random.default_rng(0), ODD[family.name]
        return rng.integers(0, family.integers, shape) if family.integers else rng.standard_normal(shape).astype(np.float32)
    return family.example(8 if variant == "batch8" else 64 if family.name == "mlp" else 1)


def model(family, variant: str):
    om.manual_seed(0)
    return transformer.encoder(width=100) if (family.name, variant) == ("encoder", "odd") else family.build()


def runners(family, variant: str, threads: int) -> dict:
    x = example(family, variant)
    if variant == "onnx":
        return from_torch(family, x, threads)
    traced = model(family, variant).trace(om.tensor(x))
    fixed, peer = traced.session(threads=threads), onnxruntime_session(traced, threads)
    result = {"onemlir": lambda: fixed.run({"input": x}), "onnxruntime": lambda: peer.run(None, {"input": x})}
    if variant == "symbolic":
        axes = ("batch", *(None for _ in x.shape[1:]))
        symbolic = model(family, variant).trace(om.tensor(x), axes=axes, check=False).session(threads=threads)
        result = {"onemlir": lambda: symbolic.run({"input": x}), "onnxruntime": result["onnxruntime"], "fixed": result["onemlir"]}
    return result


def from_torch(family, x, threads: int) -> dict:
    import onnxruntime
    from torch_families import exported

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    data = exported(family.name, x)
    peer, session = onnxruntime.InferenceSession(data, options), om.from_onnx(data).session(threads=threads)
    np.testing.assert_allclose(next(iter(session.run({"input": x}).values())), peer.run(None, {"input": x})[0], rtol=1e-3, atol=1e-3)
    return {"onemlir": lambda: session.run({"input": x}), "onnxruntime": lambda: peer.run(None, {"input": x})}


def main(
    families: Annotated[str, typer.Option(help="Names, separated by commas.")] = ",".join(f.name for f in FAMILIES),
    variants: Annotated[str, typer.Option(help="Names, separated by commas.")] = ",".join(VARIANTS),
    threads: Annotated[str, typer.Option(help="Numbers, separated by commas.")] = "1,2",
    rounds: int = 15,
):
    for count in map(int, threads.split(",")):
        table = Table(title=f"{count} threads, medians in ms of {rounds} interleaved rounds")
        for column in ("family", "variant", "onemlir", "onnxruntime", "ratio", "quartile ratio", "over fixed"):
            table.add_column(column)
        ratios: dict[str, list[float]] = {variant: [] for variant in variants.split(",")}
        for family in FAMILIES:
            for variant in ratios if family.name in families.split(",") else ():
                times = measure(runners(family, variant, count), rounds)
                ours, theirs = times["onemlir"], times["onnxruntime"]
                ratios[variant].append(ours.median / theirs.median)
                over = f"{ours.median / times['fixed'].median:.2f}" if "fixed" in times else ""
                cells = (f"{ours.median * 1e3:.3f}", f"{theirs.median * 1e3:.3f}", f"{ratios[variant][-1]:.2f}", f"{ours.low / theirs.low:.2f}", over)
                table.add_row(family.name, variant, *cells)
        Console().print(table)
        print("geometric means:", {variant: round(float(np.exp(np.mean(np.log(values)))), 2) for variant, values in ratios.items() if values})


if __name__ == "__main__":
    typer.run(main)
