"""Random models on random symbolic axes: eager, interpreted, compiled, saved and loaded, and in onnxruntime give the same."""
import numpy as np
from hypothesis import given, HealthCheck, settings, strategies as st

import onemlir as om
from onemlir import ops

UNARY = [ops.exp, ops.tanh, ops.sigmoid, ops.relu, ops.abs, ops.negative, ops.square, lambda x: ops.softmax(x, axis=-1), lambda x: ops.clip(x, -1.0, 1.0),
         lambda x: ops.cumsum(x, axis=0)]
BINARY = [ops.add, ops.subtract, ops.multiply, ops.maximum, ops.minimum, lambda x, y: ops.where(x > y, x, y * 2)]
REDUCE = [ops.sum, ops.mean]
SHAPE = [
    lambda x: ops.transpose(x, (1, 0)), lambda x: ops.reshape(x, (x.shape[1], -1)), lambda x: x[:, ::-1], lambda x: ops.concat([x, x * 0.5], axis=0),
    lambda x: x[x.shape[0] // 2:], lambda x: ops.reshape(ops.reshape(x, (-1,)), x.shape), lambda x: x[:, None, :].sum(axis=1), lambda x: ops.flip(x, 0),
]
CONTROL = [
    lambda x, y: ops.cond(x.sum() > 0, lambda: y * 2, lambda: y - 1),
    lambda x, y: ops.fori_loop(0, 3, lambda i, c: c * 0.5 + y.mean(), x),
    lambda x, y: ops.scan(lambda c, row: (c + row.mean(), row * 0.5 + c), om.tensor(0.0), x)[1] + y.mean(),
    lambda x, y: ops.while_loop(lambda c: ops.abs(c).max() > 1, lambda c: c * 0.5, ops.concat([x, ops.ones((1, x.shape[1]))]))[:-1],
]


@st.composite
def programs(draw, control: bool):
    """A list of steps; each takes values by number and gives one more. Ranks stay 2."""
    steps = []
    for _ in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(["unary", "binary", "reduce", "shape", "mutate"] + ["control"] * control))
        table = {"unary": UNARY, "binary": BINARY, "reduce": REDUCE, "shape": SHAPE, "control": CONTROL, "mutate": [None]}[kind]
        steps.append((kind, draw(st.integers(0, len(table) - 1)), draw(st.integers(0, 9)), draw(st.integers(0, 9)), draw(st.integers(0, 1))))
    return steps


def run(steps, x, y):
    """The program on two inputs; binary steps take values of equal shapes."""
    values = [x, y]
    for kind, which, a, b, axis in steps:
        first = values[a % len(values)]
        second = values[b % len(values)]
        if kind == "unary":
            values.append(UNARY[which](first))
        elif kind == "binary":
            values.append(BINARY[which](first, second.mean(axis=0, keepdims=True).mean(axis=1, keepdims=True)))
        elif kind == "reduce":
            values.append(REDUCE[which](first, axis=axis, keepdims=True) + first * 0)
        elif kind == "shape":
            values.append(SHAPE[which](first))
        elif kind == "control":
            values.append(CONTROL[which](ops.tanh(first), ops.tanh(second)))
        else:
            changed = first * 1.0
            changed[0] = 0.25
            view = changed[:, -1]
            view += 1
            values.append(changed)
    return values[-1], values[-1].sum()


def arrays(shape, seed):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, shape).astype(np.float32) for _ in range(2)]


def close(found, expected, where):
    for a, b in zip(found, expected, strict=True):
        assert np.shape(a) == np.shape(b), where
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4, err_msg=where)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=programs(control=True), axes=st.sampled_from([None, ("n", None), (None, "m"), ("n", "m")]), seed=st.integers(0, 999))
def test_interpreted(steps, axes, seed, interpret):
    given_axes = None if axes is None else [axes, axes]
    traced = om.trace(lambda x, y: run(steps, x, y), *map(om.tensor, arrays((3, 4), seed)), axes=given_axes)
    for n, m in [(3, 4), (1, 1), (6, 5)]:
        shape = (n if axes and axes[0] else 3, m if axes and axes[1] else 4)
        x, y = arrays(shape, seed + n)
        expected = [t.numpy() for t in run(steps, om.tensor(x), om.tensor(y))]
        close(interpret(traced, x, y), expected, "interpreter")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=programs(control=True), seed=st.integers(0, 999))
def test_compiled_saved_and_exported(steps, seed, tmp_path_factory, export):
    folder = tmp_path_factory.mktemp("models")
    traced = om.trace(lambda x, y: run(steps, x, y), *map(om.tensor, arrays((3, 4), seed)), axes=[("n", "m")] * 2)
    session = traced.session()
    traced.save(folder / "m.onemodel")
    loaded = om.load(folder / "m.onemodel").session()
    for shape in [(3, 4), (1, 1), (6, 5)]:
        x, y = arrays(shape, seed + 7)
        expected = [t.numpy() for t in run(steps, om.tensor(x), om.tensor(y))]
        close(session(x, y), expected, "session")
        close(loaded(x, y), expected, "loaded")
        close(export(traced, folder / "m.onnx", x, y), expected, "onnxruntime")
