"""The three rules for reads of recorded values and of symbolic sizes."""
import math
import warnings

import numpy as np
import pytest

import onemlir as om
from onemlir import ops

X = om.tensor([3.0, 1.0])
TABLE = [10.0, 20.0, 30.0, 40.0]

READS = {
    "bool": lambda x: x if ops.sum(x) > 0 else -x,
    "while": lambda x: _while(x),
    "assert": lambda x: _assert(x),
    "and": lambda x: x * ((x[0] > 0) and 2),
    "int": lambda x: x * int(x[0]),
    "float": lambda x: x * float(x[0]),
    "item": lambda x: x * x[1].item(),
    "numpy": lambda x: om.tensor(x.numpy()) + x,
    "tolist": lambda x: x * x.tolist()[0],
    "min": lambda x: x * min(x[0], x[1]),
    "max": lambda x: x * max(x[0], x[1]),
    "in": lambda x: x * (3.0 in x),
    "sorted": lambda x: sorted([x[0], x[1]], key=lambda v: v)[0] + x,
    "list ==": lambda x: x * ([x[0]] == [x[1]]),
    "index": lambda x: x * TABLE[x[0].astype(om.int64)],
    "range": lambda x: x * sum(range(x[0].astype(om.int64))),
    "format": lambda x: x * float(f"{x[0]:.3f}"),
    "round trip by numpy": lambda x: x * np.asarray(x).sum(),
    "numpy function": lambda x: x * np.linalg.norm(x),
    "numpy ufunc": lambda x: x * np.exp(x),
    "math": lambda x: x * math.sqrt(x[0]),
    "size": lambda x: ops.zeros(x[0].astype(om.int64)) + x[0],
    "reshape size": lambda x: ops.reshape(x, (x[1].astype(om.int64), 2)),
}


def _while(x):
    while ops.sum(x) > 2:
        x = x / 2
    return x


def _assert(x):
    assert ops.sum(x) > 0
    return x + 1


@pytest.mark.parametrize("name", READS)
def test_each_read_follows_the_three_rules(name, interpret):
    function = READS[name]
    eager = function(X).numpy()
    with pytest.raises(om.TraceError) as error:
        om.trace(function, X)
    assert "test_reading.py" in str(error.value) and "on_read" in str(error.value)
    with pytest.warns(om.FrozenValueWarning, match="test_reading.py"):
        frozen = om.trace(function, X, on_read="freeze")
    np.testing.assert_allclose(interpret(frozen, X.numpy())[0], eager, rtol=1e-6)
    assert any(a["kind"] == "frozen value" and "test_reading.py" in a["line"] for a in frozen.assumptions)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarded = om.trace(function, X, on_read="guard")
    np.testing.assert_allclose(interpret(guarded, X.numpy())[0], eager, rtol=1e-6)
    with pytest.raises(om.GuardError, match="test_reading.py"):
        interpret(guarded, np.array([-9.0, -9.0 if name == "list ==" else -8.5], np.float32))


def test_one_warning_for_each_line():
    def twice(x):
        for _ in range(3):
            x = x * float(x[0])
        return x * float(x[1])

    with pytest.warns(om.FrozenValueWarning) as caught:
        om.trace(twice, X, on_read="freeze")
    assert len({str(w.message).partition("\n")[0] for w in caught}) == len(caught) == 2


def test_a_guard_names_expression_and_both_values_and_the_session_goes_on():
    def scaled(x, n):
        return x * float(ops.sum(x) * 2) + int(n) + (1 if {"a": n}["a"] > 2 else 0)

    session = om.trace(scaled, X, om.tensor(5), on_read="guard").session()
    x = X.numpy()
    assert np.array_equal(session(x, np.array(5)), x * 8 + 6)
    with pytest.raises(om.GuardError, match=r"float\(sum\(x\) \* .*found 10, expected 8.*test_reading.py"):
        session(x + 0.5, np.array(5))
    with pytest.raises(om.GuardError, match=r"int\(n\) is 5; found -2, expected 5"):
        session(x, np.array(-2))
    assert np.array_equal(session(x, np.array(5)), x * 8 + 6)


def test_guards_in_a_compiled_library(tmp_path):
    def function(x):
        return x * float(x[0]) if x.sum() > 0 and x.shape[0] > 2 else x

    library = om.Session(om.trace(function, om.ones((3,)), axes=("n",), on_read="guard").compile(tmp_path / "m.so"))
    assert library(np.array([1, 1, 5], np.float32)).tolist() == [1, 1, 5]
    for x, words in [([1, -2, 0], "found False, expected True"), ([2, 1, 1], r"float\(input\[0\]\).*found 2, expected 1"), ([1, 2], "n >= 3; found 2")]:
        with pytest.raises(om.GuardError, match=words + ".*test_reading.py"):
            library(np.array(x, np.float32))


def test_a_guard_on_a_float_allows_for_rounding_alone():
    session = om.trace(lambda x: x * float(ops.mean(x)), om.tensor(np.linspace(0, 1, 1001, dtype=np.float32)), on_read="guard").session()
    x = np.linspace(0, 1, 1001, dtype=np.float32)
    session(x[::-1].copy())  # the same sum in another order
    with pytest.raises(om.GuardError):
        session(x * np.float32(1.0001))


def test_a_guard_on_nan_holds_for_nan(interpret):
    guarded = om.trace(lambda x: x * (2 if math.isnan(x[0]) else 1), om.tensor([np.nan, 1.0]), on_read="guard")
    assert interpret(guarded, np.array([np.nan, 5], np.float32))[0][1] == 10
    with pytest.raises(om.GuardError):
        interpret(guarded, np.array([0, 5], np.float32))


SIZES = {
    "if": lambda x: x * 2 if x.shape[0] > 2 else x,
    "==": lambda x: x * 2 if x.shape[0] == 3 else x,
    "range": lambda x: sum((x[i] for i in range(x.shape[0])), om.tensor(0.0)),
    "iteration": lambda x: sum((row for row in x), om.tensor(0.0)),
    "len": lambda x: x * len(x),
    "float": lambda x: x / math.sqrt(x.shape[0]),
    "int": lambda x: x * int(x.shape[0]),
    "format": lambda x: x * len(f"{x.shape[0]:03d}") + int(f"{x.shape[0]}"),
    "dict": lambda x: x * {3: 5.0}.get(x.shape[0], 1.0),
    "list": lambda x: x * TABLE[x.shape[0]],
    "in": lambda x: x * (2 if x.shape[0] in (1, 3) else 1),
    "min": lambda x: x * min(x.shape[0], 2),
    "tuple ==": lambda x: x * 2 if x.shape == (3,) else x,
}


@pytest.mark.parametrize("name", SIZES)
def test_deciding_on_a_size_follows_the_three_rules(name, interpret):
    function, example = SIZES[name], om.tensor([1.0, 2.0, 4.0])
    eager = function(example).numpy()
    with pytest.raises(om.TraceError, match="symbolic size n") as error:
        om.trace(function, example, axes=("n",))
    assert "test_reading.py" in str(error.value)
    with pytest.warns(om.FrozenValueWarning, match="test_reading.py"):
        frozen = om.trace(function, example, axes=("n",), on_read="freeze")
    np.testing.assert_allclose(interpret(frozen, example.numpy())[0], eager, rtol=1e-6)
    guarded = om.trace(function, example, axes=("n",), on_read="guard")
    np.testing.assert_allclose(interpret(guarded, example.numpy())[0], eager, rtol=1e-6)
    with pytest.raises(om.GuardError, match="found 1, "):
        interpret(guarded, np.ones(1, np.float32))
    assert guarded.program.main.regions[0].blocks[0].operations[0].operation.name in ("arith.constant", "om.dim", "om.from_size", "om.constant")


def test_a_size_guard_comes_before_all_work():
    traced = om.trace(lambda x: ops.exp(x) * (2 if x.shape[0] > 2 else 1), om.ones((3,)), axes=("n",), on_read="guard")
    names = [o.operation.name for o in traced.program.main.regions[0].blocks[0].operations]
    assert names.index("om.guard") < names.index("om.exp")
    session = traced.session()
    with pytest.raises(om.GuardError, match=r"n >= 3; found 2, expected at least 3, .*test_reading.py"):
        session(np.ones(2, np.float32))
    assert session(np.zeros(4, np.float32)).tolist() == [2, 2, 2, 2]


def test_sizes_that_are_known_decide_freely():
    axis = om.Axis("n", min=2, max=64, multiple_of=2)

    def decides(x):
        assert x.shape[0] > 1 and x.shape[0] <= 64 and x.shape[0] != 1 and x.shape[0] % 2 == 0 and x.shape[0]
        return x * 2

    om.trace(decides, om.ones((4,)), axes=(axis,))


def test_a_recorded_tensor_has_no_meaning_outside():
    kept = []
    om.trace(lambda x: (kept.append(x * 2), x)[1], X)
    with pytest.raises(om.TraceError, match="outside"):
        kept[0] + 1
    with pytest.raises(om.TraceError, match="ended"):
        kept[0].numpy()
    with pytest.raises(om.TraceError, match="another recording"):
        om.trace(lambda x: x + kept[0], X)


def test_printing_reads_nothing():
    traced = om.trace(lambda x: (print(x), f"{x}", repr(x.shape), str(x.shape[0]), x * 2)[-1], X, axes=("n",))
    assert not [a for a in traced.assumptions if "value" in a["kind"] or a["kind"].endswith(" size") and a["kind"] != "fixed size"]


def test_a_guard_on_an_array_gives_the_values_of_the_first_element_that_differs(interpret):
    example = np.arange(6, dtype=np.float32).reshape(2, 3)
    traced = om.trace(lambda x: x * x.numpy().sum(), om.tensor(example), axes=("n", None), on_read="guard")
    changed = example.copy()
    changed[1, 1:] = [0.5, 7]
    for run in (traced.session(), lambda x: interpret(traced, x)[0]):
        np.testing.assert_array_equal(run(example), example * 15)
        with pytest.raises(om.GuardError, match=r"numpy\(input\).*first element that differs found 0.5, expected 4, at .*test_reading.py"):
            run(changed)
        with pytest.raises(om.GuardError, match="assumes n == 2; found 1, expected 2"):
            run(example[:1])
