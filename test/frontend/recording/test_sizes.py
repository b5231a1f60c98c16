"""Symbolic sizes: what stays symbolic, what is reported, ranges that are checked, corner sizes."""
import itertools
import threading

import numpy as np
import pytest

import onemlir as om
from onemlir import ops
from onemlir.dialect import symbolic
from onemlir.dialect.symbolic import Dim

n, m = Dim.symbol("n"), Dim.symbol("m")


def flat(x):
    batch = x.shape[0]
    return ops.reshape(x, (batch, -1))


def halves(x):
    half = x.shape[1] // 2
    return ops.concat([x[:, half:], x[:, :half]], axis=1)


def to_a_multiple(x):
    missing = -x.shape[1] % 4
    padded = ops.concat([x, ops.zeros((x.shape[0], missing))], axis=1)
    return ops.reshape(padded, (x.shape[0], -1, 4)).sum(axis=2)


def causal(x):
    time = x.shape[1]
    mask = ops.tril(ops.ones((time, time)))
    scores = x[:, :, None] * x[:, None, :]
    return ops.softmax(ops.where(mask > 0, scores, om.tensor(-1e9)), axis=-1)


def merged_and_split(x):
    batch, time = x.shape
    y = ops.reshape(x, (batch * time,)) * 2
    return ops.reshape(y, (batch, time)) + x


def windows(x):
    time = x.shape[1]
    return x[:, 1:] - x[:, :-1] + x[:, :time - 1]


def last_and_rest(x):
    return ops.concat([x[:, -1:], x[:, :-1]], axis=1)


def window_of_at_most_four(x):
    return x[:, :ops.sym_min(x.shape[1], 4)] * (1 / ops.sym_max(x.shape[0], 1))


def mean_by_size(x):
    batch, time = x.shape
    return x.sum(axis=1) / time + (batch * 2 - batch) * 1.0


def numpy_of(function):
    """The same in numpy."""
    return {
        flat: lambda x: x.reshape(len(x), -1),
        halves: lambda x: np.concatenate([x[:, x.shape[1] // 2:], x[:, :x.shape[1] // 2]], 1),
        to_a_multiple: lambda x: np.pad(x, ((0, 0), (0, -x.shape[1] % 4))).reshape(len(x), -1, 4).sum(2),
        causal: lambda x: _softmax(np.where(np.tril(np.ones((x.shape[1],) * 2)) > 0, x[:, :, None] * x[:, None, :], np.float32(-1e9))),
        merged_and_split: lambda x: 3 * x,
        windows: lambda x: x[:, 1:] - x[:, :-1] + x[:, :-1],
        last_and_rest: lambda x: np.roll(x, 1, 1),
        window_of_at_most_four: lambda x: x[:, :4] / np.float32(len(x)),
        mean_by_size: lambda x: x.sum(1) / np.float32(x.shape[1]) + np.float32(len(x)),
    }[function]


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("function", [flat, halves, to_a_multiple, causal, merged_and_split, windows, last_and_rest,
                                      window_of_at_most_four, mean_by_size])
def test_what_stays_symbolic(function, interpret):
    traced = om.trace(function, om.ones((2, 6)), axes=("batch", "time"))
    assert not any("?" in str(size) for spec in traced.outputs for size in spec.shape)
    rng = np.random.default_rng(0)
    for shape in [(1, 1), (3, 7), (2, 8), (6, 6)]:
        x = rng.standard_normal(shape).astype(np.float32)
        np.testing.assert_allclose(interpret(traced, x)[0], numpy_of(function)(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", [halves, to_a_multiple, causal])
def test_what_stays_symbolic_compiles(function, everywhere):
    traced = om.trace(function, om.ones((2, 6)), axes=("batch", "time"))
    rng = np.random.default_rng(0)
    cases = [rng.standard_normal(shape).astype(np.float32) for shape in [(1, 1), (3, 7)]]
    everywhere(traced, *[((x,), numpy_of(function)(x)) for x in cases])


@pytest.mark.parametrize("function, words", [
    (lambda x: ops.reshape(x, (x.shape[0], 2, 3)), "axis 'time' must be 6: reshape"),
    (lambda x: x + om.ones((6,)), "axis 'time' must be 6"),
    (lambda x: x @ om.ones((6, 2)), "axis 'time' must be 6"),
    (lambda x: x @ x, "axis 'time' must be batch|axis 'batch' must be time"),
    (lambda x: ops.concat([x, x[:, :3].sum(axis=1, keepdims=True)], axis=0), "axis 'time' must be 1"),
])
def test_a_named_axis_that_is_forced_is_reported(function, words):
    with pytest.raises(om.TraceError, match=words) as error:
        om.trace(function, om.ones((2, 6)), axes=("batch", "time"))
    assert "test_sizes.py" in str(error.value)


def test_declared_ranges_are_checked_on_every_run():
    axis = om.Axis("time", min=4, max=16, multiple_of=4)
    traced = om.trace(lambda x: ops.reshape(x, (x.shape[0] // 4, 4)).sum(axis=1), om.ones((8,)), axes=(axis,))
    session = traced.session()
    assert session(np.ones(12, np.float32)).tolist() == [4, 4, 4]
    for size, word in [(0, "at least 4"), (20, "at most 16"), (6, "multiple of 4")]:
        with pytest.raises(om.ShapeError, match=f"'time' is {size}.*{word}"):
            session(np.ones(size, np.float32))
    assert session(np.ones(4, np.float32)).tolist() == [4]


def test_declared_ranges_are_saved(tmp_path):
    om.trace(lambda x: x * 2, om.ones((8,)), axes=(om.Axis("time", min=4, max=16),)).save(tmp_path / "m.onemodel")
    with pytest.raises(om.ShapeError, match="at most 16"):
        om.load(tmp_path / "m.onemodel").session()(np.ones(20, np.float32))


def test_an_example_outside_its_range():
    with pytest.raises(om.TraceError, match="axis 'time' is 6 in the example"):
        om.trace(lambda x: x, om.ones((6,)), axes=(om.Axis("time", multiple_of=4),))


def test_an_axis_of_the_example_may_be_one_or_empty(everywhere):
    for example in (0, 1, 3):
        traced = om.trace(lambda x, y: (x + y, x.sum(axis=0), x[1:]), om.ones((example, 2)), om.ones((example, 2)), axes=[("n", None)] * 2)
        cases = [np.arange(2.0 * k, dtype=np.float32).reshape(k, 2) for k in (0, 1, 3)]
        everywhere(traced, *[((x, x), [2 * x, x.sum(0), x[1:]]) for x in cases], onnx=False, session=example == 1)


def test_reducing_an_empty_axis_is_a_named_error(interpret):
    traced = om.trace(lambda x: x.max(axis=0), om.ones((3, 2)), axes=("n", None))
    with pytest.raises(om.OnemlirError, match="max"):
        traced.session()(np.ones((0, 2), np.float32))


# Arithmetic of sizes, against numbers.
SIZES = {
    "sum": n + n - n, "half and half": n // 2 + (n + 1) // 2, "ceil": -(-n // 4) * 4 - n - (-n % 4), "nested": (n // 2) // 3 - n // 6,
    "mod": (n * m) % m, "of sum": (n + 8) // 8 - n // 8, "mod of sum": (n + 16) % 8 - n % 8, "divmod": n // 8 * 8 + n % 8,
    "scaled": (4 * n) // 8 - n // 2, "max": symbolic.maximum(n, 0), "min of sum": symbolic.minimum(n, n + 1),
    "max of same": symbolic.maximum(n - m, n - m) - n + m, "padded twice": (n + -n % 4 + -(n + -n % 4) % 4) - n - -n % 4,
    "distributed": (n + m) * (n - m) - n * n + m * m, "mod of mod": (n % 8) % 8 - n % 8, "mod of multiple": (8 * n + 3) % 4, "floor of mod": (n % 4) // 4,
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_simplified(name):
    expected = {"sum": n, "half and half": n, "divmod": n, "max": n, "min of sum": n, "of sum": 1, "mod of multiple": 3}
    assert SIZES[name] == expected.get(name, 0), SIZES[name]


def test_simplified_sizes_have_the_same_values():
    rng = np.random.default_rng(0)
    binary = [symbolic.add, lambda a, b: a - b, symbolic.mul, symbolic.floordiv, symbolic.mod, symbolic.minimum, symbolic.maximum]
    plain = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, symbolic.FUNCTIONS["floordiv"], symbolic.FUNCTIONS["mod"], min, max]
    for trial in range(300):
        steps = [(rng.integers(7), rng.integers(-3, 9), rng.integers(3)) for _ in range(4)]

        def build(functions, a, b):
            value = a
            for function, constant, operand in steps:
                other = [a, b, int(constant)][operand]
                if function in (3, 4):
                    other = abs(int(constant)) + 1
                value = functions[function](value, other)
            return value

        size = build(binary, n, m)
        for a, b in itertools.product([0, 1, 2, 3, 7, 8], [0, 1, 5]):
            expected = build(plain, a, b)
            assert symbolic.evaluate(size, lambda s: {"n": a, "m": b}[s.name]) == expected, (steps, str(size), a, b)


@pytest.mark.parametrize("program", [
    lambda x: x * (2.0 if isinstance(x.shape[0], int) else 3.0),
    lambda x: x * (x.shape[0].numerator if hasattr(x.shape[0], "bit_length") else 3.0),
    lambda x: x + ops.full((2,), x.shape[0]),
], ids=["isinstance", "attributes", "full"])
def test_sizes_pass_for_ints(program):
    session = om.trace(program, om.ones((3, 2)), axes=("n", None)).session()
    np.testing.assert_array_equal(session(np.ones((5, 2), np.float32)), program(om.ones((5, 2))).numpy())


@pytest.mark.parametrize("program, word", [
    (lambda x: x + np.full(2, x.shape[0], np.float32), "float of the symbolic size"),
    (lambda x: x + np.full(2, x.shape[0]), "a tensor made of the symbolic size"),
    (lambda x: x * x.shape[0].bit_length(), "bit_length of the symbolic size"),
    (lambda x: x * om.tensor(x.shape[0]), "a tensor made of the symbolic size"),
    (lambda x: x * round(x.shape[0] / 2), "round of a recorded tensor"),
], ids=["numpy", "objects", "bit_length", "tensor", "round"])
def test_reads_of_sizes_name_the_users_line(program, word):
    with pytest.raises(om.TraceError, match=f"{word}(.|\n)* at .*test_sizes.py"):
        om.trace(program, om.ones((3, 2)), axes=("n", None))


def test_a_read_in_another_thread_that_is_caught_is_refused():
    def program(x):
        found = []

        def read():
            try:
                found.append(float(ops.sum(x)))
            except Exception:
                found.append(1.0)
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        return x * found[0]
    with pytest.raises(om.TraceError, match="caught this error"):
        om.trace(program, om.ones(3))
