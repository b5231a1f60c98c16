"""The timers of `onemlir profile`."""
import numpy as np

from onemlir.frontend import nn
from onemlir.frontend.tensor import tensor
from onemlir.lowering.instrument import Instrument
from onemlir.runtime.jit import jit_session


def test_time_is_found_where_the_work_is():
    x = np.ones((64, 512), np.float32)
    traced = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2)).trace(tensor(x))
    instrument = Instrument()
    session = jit_session(traced.program, threads=1, observe=instrument.observe)
    session.run({"input": x})
    counts = instrument.counts()
    products = [n for n, label in enumerate(instrument.labelled) if label.what.split()[0] in ("matmul", "split_matmul")]
    large, small = sorted(products, key=lambda n: -instrument.labelled[n].operations)
    assert instrument.labelled[large].operations == 2 * 64 * 512 * 512
    assert counts[large] > counts[small] > 0
    assert instrument.counts()[large] == 0
