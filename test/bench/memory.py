"""Memory that a ready session holds after one run, beyond what imports cost: python test/bench/memory.py

Each figure is the growth of a fresh process's resident memory, in MB, from after the imports (and the session of a tiny model, which
loads the same code) to after one run of the model's session: ours compiled, ours out of the compile cache, and onnxruntime's. Pages of
shared libraries that are as in their files count for none of them: how many are mapped says what ran last, and the system takes them
back as it likes. The last three figures are the whole process, with these pages.
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
    with open("/proc/self/smaps") as file:
        mappings = re.split(r"\\n(?=[0-9a-f]+-[0-9a-f]+ )", file.read())
    sizes = [{name: int(size) / 1024 for name, size in re.findall(r"(\\w+): +(\\d+) kB", text)} for text in mappings]
    clean = sum(size["Rss"] - size["Anonymous"] for text, size in zip(mappings, sizes) if ".so" in text.partition("\\n")[0])
    return sum(size["Rss"] for size in sizes) - clean, clean

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
resident()
before, _ = resident()
ready = session(model)
ready(x)
after, clean = resident()
print(after - before, after + clean)
"""


def measure(kind: str, folder: pathlib.Path, name: str) -> list[float]:
    """What the session holds, and the size of the process."""
    command = [sys.executable, "-c", MEASURE, kind, str(folder / "tiny"), str(folder / name), str(folder / f"{name}.npy")]
    return [float(figure) for figure in subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout.split()]


def write(folder: pathlib.Path, name: str, traced, example: np.ndarray) -> None:
    traced.save(folder / f"{name}.onemodel")
    traced.save_onnx(folder / f"{name}.onnx")
    np.save(folder / f"{name}.npy", example)


def main(names: list[str]) -> None:
    kinds = ("compiled", "cached", "onnxruntime")
    print("".join(f"{title:>12}" for title in ("", "weights", *kinds, *kinds)))
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
            held, whole = zip(*(measure(kind, folder, family.name) for kind in kinds))
            print(f"{family.name:>12}" + "".join(f"{size:12.1f}" for size in (weights, *held, *whole)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
