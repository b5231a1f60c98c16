"""The trap programs: each is right on another input, or refused with the line."""
import pathlib
import sys

import pytest

torch = pytest.importorskip("torch")

import onemlir as om  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from torch_traps import TRAPS  # noqa: E402


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_trap(trap, agrees):
    if trap.outcome == "right":
        _agrees(agrees, trap)
        return
    with pytest.raises(getattr(om, trap.outcome), match=r"torch_traps.py|test_traps.py"):
        om.trace(trap.make(), *trap.example, axes=trap.axes)


def test_table_in_the_documentation():
    """Its rows are the programs, and its column for om.trace what the tests above see; `compare_traps.py` writes it."""
    text = (pathlib.Path(__file__).parents[3] / "docs" / "torch_traps.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")][2:]
    found = [(name, ours.partition(",")[0]) for name, ours, *_ in rows]
    assert found == [(trap.name, "right" if trap.outcome == "right" else "refuses") for trap in TRAPS]


def _agrees(agrees, trap):
    copies = lambda inputs: tuple(t.clone() if isinstance(t, torch.Tensor) else t for t in inputs)
    agrees(Fresh(trap), copies(trap.example), trap.axes, [copies(trap.other)])


class Fresh(torch.nn.Module):
    """The trap's program on copies of its inputs, so that the comparison sees what it was given."""

    def __init__(self, trap):
        super().__init__()
        self.program = trap.make()

    def forward(self, *inputs):
        return self.program(*[t.clone() if isinstance(t, torch.Tensor) else t for t in inputs])
