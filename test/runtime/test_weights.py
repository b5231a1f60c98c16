"""A session keeps its weights, whatever becomes of the model's afterwards."""
import numpy as np
import pytest

import onemlir as om
from onemlir import nn


@pytest.mark.parametrize("build, x", [(lambda: nn.Linear(3, 2), np.ones((2, 3), np.float32)), (lambda: nn.Embedding(5, 3), np.array([1, 2]))],
                         ids=["packed", "as they are"])
def test_changing_the_model_does_not_change_a_session(build, x):
    model = build()
    session = model.trace(om.tensor(x)).session()
    before = session(x).copy()
    model.load_state_dict({name: np.zeros_like(value) for name, value in model.state_dict().items()})
    np.testing.assert_array_equal(session(x), before)
