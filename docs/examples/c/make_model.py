"""Compile the models of the C and C++ examples: `python make_model.py FOLDER [CPU]` writes net.so, net.a, filter.so and their headers."""
import pathlib
import sys

import onemlir as om
from onemlir import nn, ops


def positions(x, threshold):
    """The values above a threshold and where they are: how many there are depends on the data."""
    (where,) = ops.nonzero(x > threshold)
    return {"values": ops.take(x, where, axis=0), "positions": where}


def main(folder: pathlib.Path, cpu: str = "") -> None:
    om.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    traced = model.trace(om.zeros((3, 16)), axes=("batch", None))
    traced.compile(folder / "net.so", cpu=cpu)
    traced.compile(folder / "net.a", cpu=cpu)
    traced.save(folder / "net.onemodel")
    om.trace(positions, om.zeros(5), om.tensor(0.5), axes={"x": ("n",), "threshold": ()}).compile(folder / "filter.so", cpu=cpu)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), *sys.argv[2:])
