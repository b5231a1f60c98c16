"""cond, switch, while_loop, fori_loop, scan, map: eager and recorded against loops written in numpy."""
import dataclasses

import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops


def f32(*values):
    return np.array(values, np.float32)


def test_switch_clamps_its_index(everywhere):
    branches = [lambda x: x, lambda x: x * 10, lambda x: -x]
    traced = om.trace(lambda i, x: ops.switch(i, branches, x), om.tensor(0), om.tensor([1.0, 2.0]))
    x = f32(1, 2)
    everywhere(traced, *[((np.array(i), x), expected) for i, expected in [(-3, x), (0, x), (1, 10 * x), (2, -x), (9, -x)]])
    assert ops.switch(om.tensor(7), branches, om.tensor([3.0])).tolist() == [-3.0]


def test_nested_branches_in_a_loop_close_over_parameters_and_outer_tensors(everywhere):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)
            with np.errstate(all="ignore"):
                self.layer.weight._array[...] = np.arange(9).reshape(3, 3) / 10
                self.layer.bias._array[...] = [0.1, -0.2, 0.3]

        def forward(self, x):
            outer = x * 2

            def step(i, value):
                total, best = value["total"], value["best"]
                new = ops.cond(ops.sum(total) > 5, lambda t: t - outer, lambda t: self.layer(t) + 1, total)
                return {"total": new, "best": ops.maximum(best, ops.max(new))}
            return ops.fori_loop(0, 4, step, {"total": x, "best": om.tensor(-100.0)})

    def by_hand(x):
        weight, bias = np.arange(9, dtype=np.float32).reshape(3, 3) / 10, f32(0.1, -0.2, 0.3)
        total, best = x, np.float32(-100)
        for _ in range(4):
            total = total - 2 * x if total.sum() > 5 else total @ weight.T + bias + 1
            best = max(best, total.max())
        return [total, best]

    traced = Model().trace(om.zeros((2, 3)), axes=("rows", None))
    cases = [np.ones((1, 3), np.float32), np.arange(6, dtype=np.float32).reshape(2, 3) - 2]
    everywhere(traced, *[((x,), by_hand(x)) for x in cases])


def test_a_carried_tensor_may_grow(everywhere):
    def doubling(x):
        return ops.while_loop(lambda y: ops.sum(y) < 20, lambda y: ops.concat([y, y]), x)

    def by_hand(x):
        while x.sum() < 20:
            x = np.concatenate([x, x])
        return x

    traced = om.trace(doubling, om.ones((3,)))
    everywhere(traced, *[((x,), by_hand(x)) for x in (f32(1, 2, 3), f32(9, 9, 9), f32(0.5, 0, 0))])
    assert np.array_equal(doubling(om.tensor([1.0, 2, 3])).numpy(), by_hand(f32(1, 2, 3)))


def test_a_tensor_grows_from_nothing(everywhere):
    def collected(x):
        def step(i, chosen):
            return ops.concat([chosen, ops.argmax(x[i])[None]])
        return ops.fori_loop(0, x.shape[0], step, om.tensor(np.zeros(0, np.int64)))

    traced = om.trace(collected, om.ones((3, 2)), axes=("n", None))
    everywhere(traced, *[((x,), x.argmax(1)) for x in (np.eye(2, dtype=np.float32), np.ones((5, 2), np.float32), np.zeros((0, 2), np.float32))])


def test_carried_sizes_of_two_loops_are_kept_apart(interpret):
    def nested(x):
        outer = lambda i, y: ops.fori_loop(0, 2, lambda j, z: ops.concat([z, z[:1]]), ops.concat([y, y[:1] * 2]))
        return ops.fori_loop(0, 3, outer, x)

    traced = om.trace(nested, om.ones((2,)), axes=("n",))
    for n in (1, 4):
        x = np.arange(1, n + 1, dtype=np.float32)
        np.testing.assert_array_equal(interpret(traced, x)[0], nested(om.tensor(x)).numpy())
        assert interpret(traced, x)[0].shape == (n + 9,)


def test_while_that_swaps(everywhere):
    fibonacci = lambda n: ops.while_loop(lambda n, a, b: n > 0, lambda n, a, b: (n - 1, b, a + b), (n, om.tensor(0), om.tensor(1)))[1]
    everywhere(om.trace(fibonacci, om.tensor(3)), *[((np.array(n),), np.array(f)) for n, f in [(0, 0), (1, 1), (10, 55), (50, 12586269025)]])


def test_fori_loop_over_sizes_and_tensors(everywhere):
    def triangle(x, n):
        by_size = ops.fori_loop(0, x.shape[0], lambda i, t: t + x[i], om.tensor(0.0))
        return by_size, ops.fori_loop(2, n, lambda i, t: t + i, om.tensor(0))

    traced = om.trace(triangle, om.zeros((3,)), om.tensor(4), axes={"x": ("n",)})
    everywhere(traced, *[((x, np.array(n)), [x.sum(), np.array(sum(range(2, n)))]) for x, n in [(f32(1, 2, 3, 4), 6), (f32(5), 1), (f32(), -4)]])


@dataclasses.dataclass
class State:
    total: object
    count: object


def test_scan_with_structures_and_in_reverse(everywhere):
    def backwards(xs, gates):
        def step(state, item):
            total = ops.where(item["gate"], state.total + item["x"], state.total)
            return State(total, state.count + 1), (total, [state.count])
        state, (totals, counts) = ops.scan(step, State(ops.zeros_like(gates[0]).astype(om.float32) * xs.sum(axis=0), om.tensor(0)),
                                           {"x": xs, "gate": gates}, reverse=True)
        return state.total, state.count, totals, counts[0]

    def by_hand(xs, gates):
        total, totals = np.zeros(xs.shape[1], np.float32), np.zeros_like(xs)
        for k in reversed(range(len(xs))):
            total = np.where(gates[k], total + xs[k], total)
            totals[k] = total
        return [total, np.array(len(xs)), totals, np.arange(len(xs))[::-1]]

    rng = np.random.default_rng(0)
    make = lambda n: (rng.standard_normal((n, 2)).astype(np.float32), rng.random((n, 2)) > 0.5)
    traced = om.trace(backwards, om.zeros((3, 2)), om.zeros((3, 2), om.bool_), axes={"xs": ("time", None), "gates": ("time", None)})
    cases = [make(5), make(1)]
    everywhere(traced, *[(c, by_hand(*c)) for c in cases])
    for (xs, gates) in cases:
        for a, b in zip(backwards(om.tensor(xs), om.tensor(gates)), by_hand(xs, gates)):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-6)


def test_scan_and_map_over_nothing(everywhere):
    traced = om.trace(lambda xs: ops.map(lambda x: (x.sum(), x * 2), xs), om.zeros((3, 2)), axes=("time", None))
    for n in (0, 4):
        x = np.arange(2.0 * n, dtype=np.float32).reshape(n, 2)
        everywhere(traced, ((x,), [x.sum(1), 2 * x]))
        eager = ops.map(lambda x: (x.sum(), x * 2), om.tensor(x))
        assert [t.shape for t in eager] == [(n,), (n, 2)]


def test_scan_by_length(interpret):
    traced = om.trace(lambda x: ops.scan(lambda c, _: (c * 2, c), x, None, length=4), om.tensor(1.0))
    assert [a.tolist() for a in interpret(traced, np.float32(3))] == [48.0, [3, 6, 12, 24]]


def lines_of(error) -> str:
    assert "test_control_flow.py" in str(error.value)
    return str(error.value)


def test_branches_of_different_types_are_named_with_both_lines():
    def shapes(x):
        one = lambda x: x * 2
        other = lambda x: x[:1]
        return ops.cond(x.sum() > 0, one, other, x)

    start = shapes.__code__.co_firstlineno
    with pytest.raises(om.TraceError) as error:
        om.trace(shapes, om.ones((3,)))
    text = lines_of(error)
    assert f":{start + 1}" in text and f":{start + 2}" in text and "f32[3]" in text and "f32[1]" in text


@pytest.mark.parametrize("other, word", [(lambda x: x.astype(om.int64), "i64"), (lambda x: x.reshape((1, 3)), "f32[1, 3]"), (lambda x: (x, x), "structure")])
def test_branches_of_different_dtypes_ranks_structures(other, word):
    with pytest.raises(om.TraceError, match=word.replace("[", r"\[")) as error:
        om.trace(lambda x: ops.cond(x.sum() > 0, lambda x: x * 2, other, x), om.ones((3,)))
    assert lines_of(error).count("test_control_flow.py") >= 2


def test_a_body_that_changes_dtype_or_rank_is_named_with_both_lines():
    def halves(n):
        body = lambda n: n / 2
        return ops.while_loop(lambda n: n > 1, body, n)

    with pytest.raises(om.TraceError, match="astype") as error:
        om.trace(halves, om.tensor(6))
    start = halves.__code__.co_firstlineno
    assert f":{start + 1}" in lines_of(error) and f":{start + 2}" in lines_of(error)
    with pytest.raises(om.TraceError, match="rank"):
        om.trace(lambda x: ops.while_loop(lambda x: x.sum() < 9, lambda x: x[None], x), om.ones((3,)))
    with pytest.raises(om.TraceError, match="structure"):
        om.trace(lambda x: ops.while_loop(lambda x, y: x.sum() < 9, lambda x, y: (x,), (x, x)), om.ones((3,)))


def test_a_shape_that_only_the_body_knows_cannot_be_stacked():
    with pytest.raises(om.TraceError, match="known before the loop"):
        om.trace(lambda x: ops.map(lambda row: ops.while_loop(lambda y: y.sum() < 9, lambda y: ops.concat([y, y]), row), x), om.ones((2, 3)))


def test_a_tensor_of_a_body_cannot_leave_it():
    kept = []

    def leaks(x):
        y = ops.cond(x.sum() > 0, lambda x: (kept.append(x + 1), x)[1], lambda x: x, x)
        return y + kept[0]

    with pytest.raises(om.TraceError, match="return it"):
        om.trace(leaks, om.ones((3,)))


def test_reading_inside_a_body_says_what_to_do():
    for on_read in ("error", "freeze", "guard"):
        with pytest.raises(om.TraceError, match="ops.cond"):
            om.trace(lambda x: ops.map(lambda row: row if row.sum() > 0 else -row, x), om.ones((2, 3)), on_read=on_read)


def test_eager_control_flow_takes_no_recording():
    assert ops.cond(True, lambda: 1, lambda: 2) == 1
    assert ops.while_loop(lambda n: n < 5, lambda n: n + 2, om.tensor(0)).item() == 6
    assert ops.fori_loop(3, 1, lambda i, c: c + i, om.tensor(5)).item() == 5


def test_a_scan_is_stacked_by_the_loop_of_onnx(tmp_path, export):
    import onnx

    traced = om.trace(lambda xs: ops.scan(lambda c, x: (c + x.sum(), (x * c, x)), om.tensor(1.0), xs), om.zeros((4, 2)), axes=("time", None))
    xs = np.arange(10, dtype=np.float32).reshape(5, 2)
    last, products, same = export(traced, tmp_path / "m.onnx", xs)
    sums = np.concatenate([[1], 1 + np.cumsum(xs.sum(1))]).astype(np.float32)
    np.testing.assert_array_equal(last, sums[-1])
    np.testing.assert_array_equal(products, xs * sums[:-1, None])
    np.testing.assert_array_equal(same, xs)
    loop, = [node for node in onnx.load(tmp_path / "m.onnx").graph.node if node.op_type == "Loop"]
    body = loop.attribute[0].g
    assert len(loop.input) == 3 and len(loop.output) == 3 and not any(node.op_type.startswith("Scatter") for node in body.node)
    read = om.from_onnx(tmp_path / "m.onnx").session()
    np.testing.assert_array_equal(list(read.run({"input": xs}).values())[1], products)
