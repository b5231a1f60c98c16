"""A session keeps its weights, whatever becomes of the model's afterwards, and nothing else of the model or the compiler."""
import gc
import weakref

import numpy as np
import pytest

import onemlir as om
from onemlir import nn
from onemlir.runtime.heap import LONG, release_code


@pytest.mark.parametrize("build, x", [(lambda: nn.Linear(3, 2), np.ones((2, 3), np.float32)), (lambda: nn.Embedding(5, 3), np.array([1, 2]))],
                         ids=["packed", "as they are"])
def test_changing_the_model_does_not_change_a_session(build, x):
    model = build()
    session = model.trace(om.tensor(x)).session()
    before = session(x).copy()
    model.load_state_dict({name: np.zeros_like(value) for name, value in model.state_dict().items()})
    np.testing.assert_array_equal(session(x), before)


def test_a_recording_goes_with_its_last_reference():
    """The collector may come late: weights and IR would be held beside those of a session."""
    model = nn.Linear(3, 2)
    gc.collect()
    gc.disable()
    try:
        traced = model.trace(om.tensor(np.ones((2, 3), np.float32)))
        context = weakref.ref(traced.program.module.context)
        del traced
        assert context() is None
    finally:
        gc.enable()


def test_released_code_of_the_compiler_is_mapped_again():
    x = np.ones((2, 3), np.float32)
    release_code(LONG)
    np.testing.assert_array_equal(om.trace(lambda x: x * 5, om.tensor(x)).session(cache=False)(x), 5 * x)
