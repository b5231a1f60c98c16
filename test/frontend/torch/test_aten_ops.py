"""torch's core ATen ops on torch's own samples: the same result as torch, or an error that names the line; never another result."""
import pathlib
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install onemlir[torch]")

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from aten_samples import core_ops, outcome, samples_of  # noqa: E402

OPS = core_ops()
COUNTS = {torch.float32: 1, torch.int64: 1, torch.bool: 1}  # samples of each dtype
COMPILED = ("where", "cumsum", "index_put", "scatter_reduce")


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.formatted_name)
@pytest.mark.filterwarnings("ignore")
def test_same_as_torch_or_refused(op, interpreted):
    found = [outcome(op, sample, interpreted, as_method=dtype == torch.int64)
             for dtype, count in COUNTS.items() if dtype in op.dtypes for sample in samples_of(op, dtype, count)]
    assert set(found) - {"skipped"} in ({"right"}, set()), found


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name):
    op = next(o for o in OPS if o.name == name)
    run = lambda traced, arrays: [np.asarray(a) for a in traced.session(threads=1).run(dict(zip(traced.input_names, arrays))).values()]
    assert outcome(op, samples_of(op, torch.float32, 1)[0], run) == "right"
