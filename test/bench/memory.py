"""Memory that a ready session holds after one run, beyond what imports cost: python test/bench/memory.py

Each figure is the growth of a fresh process's resident memory, in MB, from after the imports (and the session of a tiny model, which
loads the same code) to after one run of the model's session: ours compiled, ours out of the compile cache, and onnxruntime's.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import onemlir as om
from onemlir.cli.families import FAMILIES

MEASURE = """
import gc, re, sys
import numpy as np

def resident():
    gc.collect()
    return int(re.search(r"VmRSS:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024

kind, tiny, model, data = sys.argv[1:]
x = np.load(data)
if kind == "onnxruntime":
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    def session(path):
        made = onnxruntime.InferenceSession(path + ".onnx", options, providers=["CPUExecutionProvider"])
        return lambda x: made.run(None, {"input": x})
else:
    import onemlir as om
    def session(path):
        return om.Session(path + ".onemodel", threads=2, cache=kind == "cached")
first = session(tiny)
first(np.zeros((2, 4), np.float32))
before = resident()
ready = session(model)
ready(x)
print(resident() - before)
"""


def measure(kind: str, folder: pathlib.Path, name: str) -> float:
    command = [sys.executable, "-c", MEASURE, kind, str(folder / "tiny"), str(folder / name), str(folder / f"{name}.npy")]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout)


def write(folder: pathlib.Path, name: str, traced, example: np.ndarray) -> None:
    traced.save(folder / f"{name}.onemodel")
    traced.save_onnx(folder / f"{name}.onnx")
    np.save(folder / f"{name}.npy", example)


def main(names: list[str]) -> None:
    print(f"{'':14}{'weights':>9}{'compiled':>10}{'cached':>9}{'onnxruntime':>13}")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        os.environ["ONEMLIR_CACHE"] = str(folder / "cache")
        write(folder, "tiny", om.trace(lambda input: input * 2, om.zeros((2, 4))), np.zeros((2, 4), np.float32))
        for family in FAMILIES:
            if names and family.name not in names:
                continue
            om.manual_seed(0)
            example = family.example(64 if family.name == "mlp" else 1)
            traced = family.build().trace(om.tensor(example))
            write(folder, family.name, traced, example)
            om.Session(folder / f"{family.name}.onemodel")  # fills the cache
            weights = sum(array.nbytes for array in traced.parameters.values()) / 2**20
            ours, cached, theirs = (measure(kind, folder, family.name) for kind in ("compiled", "cached", "onnxruntime"))
            print(f"{family.name:14}{weights:9.1f}{ours:10.1f}{cached:9.1f}{theirs:13.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
