"""Recordings made again on other data and sizes, and what a recording says it depends on."""
import random
import warnings

import numpy as np
import pytest

import onemlir as om
from onemlir import nn

X = om.tensor([1.0, 2.0, 3.0])


def refused(function, *examples, **options) -> str:
    with pytest.raises(om.TraceError) as error:
        om.trace(function, *examples, **options)
    assert "test_repeats.py" in str(error.value)
    om.trace(function, *examples, **{**options, "check": False})
    return str(error.value)


def test_a_counter_is_found_with_both_lines():
    calls = []

    def counts(x):
        calls.append(1)
        if len(calls) % 2:
            return x * 2
        return x + 2

    text = refused(counts, X)
    start = counts.__code__.co_firstlineno
    assert f"'multiply' at {__file__}:{start + 3}" in text and f"'add' at {__file__}:{start + 4}" in text


class Remembers(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        return x * self.steps


def test_state_of_a_module_is_found():
    assert "constant" in refused(Remembers(), X)


@pytest.mark.parametrize("draw", [lambda: random.random(), lambda: np.random.rand(), lambda: np.random.rand(30).astype(np.float32)])
def test_random_numbers_of_others_are_found_and_their_states_restored(draw):
    def noisy(x):
        return x + draw()

    random.seed(3), np.random.seed(3)
    draw()
    expected = draw()
    random.seed(3), np.random.seed(3)
    with pytest.raises(om.TraceError):
        om.trace(noisy, om.ones((30,)))
    np.testing.assert_array_equal(draw(), expected)


def test_reads_are_answered_as_the_first_time(interpret):
    def decides(x):
        if x.sum() > 0 and x.shape[0] > 2:
            x = x * 2
        return x * float(x[0])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarded = om.trace(decides, X, axes=("n",), on_read="guard")
    assert interpret(guarded, np.array([1, 5, 5, 5], np.float32))[0].tolist() == [4, 20, 20, 20]
    with pytest.warns(om.FrozenValueWarning) as caught:
        om.trace(decides, X, axes=("n",), on_read="freeze")
    assert len(caught) == 2


def test_a_read_that_is_not_repeated_is_found():
    seen = []

    def reads_once(x):
        if not seen:
            seen.append(float(x[0]))
        return x * seen[0]

    with pytest.warns(om.FrozenValueWarning):
        text = refused(reads_once, X, on_read="freeze")
    assert "'slice'" in text
    other = iter([0, 1, 1])
    with pytest.raises(om.TraceError, match="second time"), pytest.warns(om.FrozenValueWarning):
        om.trace(lambda x: x * float(x[next(other)]), X, on_read="freeze")


def test_the_sizes_of_repeats():
    seen = []

    def looks(x, y):
        seen.append((x.shape[0].example, x.shape[1].example, y.shape[0].example))
        return x.sum() + y.sum()

    om.trace(looks, om.zeros((3, 3)), om.zeros((8,)), axes={"x": ("a", "b"), "y": (om.Axis("c", min=4, max=16, multiple_of=4),)})
    assert seen == [(3, 3, 8), (4, 5, 12), (1, 1, 4)]


def test_a_size_that_the_model_refuses_is_an_assumption():
    def picky(x):
        if x.shape[0].example == 1:  # as a library might that looks behind the size
            raise ValueError("too small")
        return x * 2

    traced = om.trace(picky, X, axes=("n",))
    entry, = [a for a in traced.assumptions if a["kind"] == "refused size"]
    assert "n = 1" in entry["text"] and "too small" in entry["text"]


def test_the_program_runs_once_without_check_and_with_a_tracer():
    calls = []
    om.trace(lambda x: (calls.append(1), x)[1], X, check=False)
    assert len(calls) == 1
    tracer = om.Tracer()
    x = tracer.input("x", X)
    tracer.output("y", x * random.random())
    tracer.finish()


def test_check_compares_with_an_eager_run():
    def function(x):
        return x * 2 if x.sum() > 0 else x * 3

    with pytest.warns(om.FrozenValueWarning), pytest.raises(om.TraceError, match="eager and traced differ"):
        om.trace(function, X, on_read="freeze", check=[X, om.tensor([-1.0, 0, 0])])
    with pytest.warns(om.FrozenValueWarning):
        om.trace(function, X, on_read="freeze", check=[X])


SCALE = 2.5
TABLE = np.arange(30, dtype=np.float32)


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))

    def forward(self, x, mode="plain"):
        return self.inner(x) * SCALE + (0 if mode == "plain" else 1)


def test_assumptions_name_what_the_recording_depends_on():
    model = Outer()
    model.train()
    traced = model.trace(om.zeros((2, 3)), axes=("batch", None), mode="other")
    assert model.training and model.inner[1].training
    found = {(a["kind"], a["name"]): a for a in traced.assumptions}
    assert found["fixed size", "input"]["text"] == "axis 1 of 'input' has size 3"
    assert found["static argument", "mode"]["text"] == "mode = 'other'"
    assert found["captured", "SCALE"]["text"] == "SCALE = 2.5"
    assert "evaluation" in found["mode", "inner.1"]["text"]
    assert "f32" in found["dtype default", "dtype"]["text"]
    assert f"test_repeats.py:{Outer.forward.__code__.co_firstlineno}" in found["captured", "SCALE"]["line"]
    assert all(a["line"].rpartition(":")[2].isdigit() for a in traced.assumptions)


def test_captured_arrays_and_closures_are_assumptions():
    factor = 3
    traced = om.trace(lambda x: x * factor + TABLE, om.zeros((30,)))
    texts = [a["text"] for a in traced.assumptions if a["kind"] == "captured"]
    assert "factor = 3" in texts and any("(30,)" in t for t in texts)


def test_assumptions_are_saved(tmp_path):
    traced = om.trace(lambda x: x * SCALE, X)
    traced.save(tmp_path / "m.onemodel")
    assert om.load(tmp_path / "m.onemodel").assumptions == traced.assumptions
