"""Gradients through ops.cond, switch, fori_loop, scan and map in a recording, against torch's gradients of the same Python program."""
import numpy as np
import pytest
import torch

import onemlir as om
from onemlir import nn, ops

RNG = np.random.default_rng(0)
X, W, XS = (RNG.standard_normal(shape).astype(np.float32) / 2 for shape in [(4,), (4, 4), (5, 4)])


def branch(lib, x, w):
    outer = x * x
    then, otherwise = lambda v: (w @ v * outer).sum(), lambda v: (v * v * v).sum() * w[0, 0]
    return ops.cond(x.sum() > 0, then, otherwise, x) if lib is ops else (then if x.sum() > 0 else otherwise)(x)


def scanned(lib, x, w, xs):
    def step(carry, row):
        carry = lib.tanh(w @ carry + row)
        return carry, carry * row

    if lib is ops:
        carry, ys = ops.scan(step, x, xs)
        return carry.sum() + (ys * ys).sum()
    rows = []
    for row in xs:
        x, y = step(x, row)
        rows.append(y)
    return x.sum() + sum((y * y).sum() for y in rows)


def reversed_scan(lib, x, w, xs):
    step = lambda carry, row: (lib.sin(w @ carry) * row, carry + row)
    if lib is ops:
        carry, ys = ops.scan(step, x, xs, reverse=True)
        return carry.sum() + (ys * ys * xs).sum()
    rows = []
    for row in reversed(list(xs)):
        x, y = step(x, row)
        rows.append(y)
    return x.sum() + (torch.stack(rows[::-1]) ** 2 * xs).sum()


def counted(lib, x, w):
    def body(i, v):
        return lib.sin(w @ v) * (i.astype(om.float32) if lib is ops else i) + x

    if lib is ops:
        return ops.fori_loop(1, 4, body, x).sum()
    v = x
    for i in range(1, 4):
        v = body(i, v)
    return v.sum()


def nested(lib, x, w):
    def twice(v):
        for _ in range(2):
            v = v * 0.5 + w[0] * v
        return v

    def body(i, v):
        if lib is ops:
            return ops.cond(v.sum() > 0, lambda v: ops.fori_loop(0, 2, lambda j, u: u * 0.5 + w[0] * u, v), lambda v: w @ v + 1, v)
        return twice(v) if v.sum() > 0 else w @ v + 1

    if lib is ops:
        return (ops.fori_loop(0, 3, body, x) ** 2).sum()
    for i in range(3):
        x = body(i, x)
    return (x**2).sum()


def mapped(lib, w, xs):
    f = lambda row: (w @ row).sum() ** 3
    return ops.map(f, xs).sum() if lib is ops else sum(f(row) for row in xs)


CASES = {"cond": (branch, X, W), "cond, other branch": (branch, -X, W), "scan": (scanned, X, W, XS), "scan in reverse": (reversed_scan, X, W, XS),
         "fori_loop": (counted, X, W), "nested": (nested, X, W), "map": (mapped, W, XS)}


def peers(function, arrays, order: int):
    """torch's gradients by all arguments, of the function or of the squared norm of its first gradient."""
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    value = function(torch, *tensors)
    if order == 2:
        value = (torch.autograd.grad(value, tensors[0], create_graph=True)[0] ** 2).sum()
    return [np.zeros_like(a) if g is None else g.numpy() for a, g in zip(arrays, torch.autograd.grad(value, tensors, allow_unused=True))]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_torchs(name, order):
    function, *arrays = CASES[name]
    loss = lambda *args: function(ops, *args)
    if order == 2:
        first = om.grad(loss)
        loss = lambda *args: (first(*args) ** 2).sum()
    found = om.grad(loss, argnums=range(len(arrays)))(*map(om.tensor, arrays))
    for a, b in zip(found, peers(function, arrays, order)):
        np.testing.assert_allclose(a.numpy(), b, rtol=2e-4, atol=2e-5)


def test_switch_state_and_a_number_of_steps_that_is_a_tensor():
    by_index = om.grad(lambda i, x: ops.switch(i, [lambda v: v.sum(), lambda v: (v * v).sum(), lambda v: (v**3).sum()], x), argnums=1)
    for i, expected in enumerate([np.ones_like(X), 2 * X, 3 * X * X]):
        np.testing.assert_allclose(by_index(om.tensor(i), om.tensor(X)).numpy(), expected, rtol=1e-5)
    powers = om.grad(lambda n, x: ops.fori_loop(0, n, lambda i, v: v * x, x).sum(), argnums=1)
    np.testing.assert_allclose(powers(om.tensor(3), om.tensor(X)).numpy(), 4 * X**3, rtol=1e-5)
    state = om.grad(lambda x: ops.scan(lambda c, _: ({"x": c["x"] * 2, "n": c["n"] + 1}, c["n"]), {"x": x, "n": om.tensor(0)}, None, length=3)[0]["x"].sum())
    np.testing.assert_array_equal(state(om.tensor(X)).numpy(), np.full(4, 8.0))


def test_a_recurrent_module_learns_as_it_does_eagerly():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(4, 4)

        def forward(self, xs):
            return ops.scan(lambda h, x: (self.cell(x, h),) * 2, om.zeros((4,)), xs)[0]

    model = Model()
    loss = lambda parameters, xs: (nn.functional_call(model, parameters, xs) ** 2).sum()
    parameters = dict(model.named_parameters())
    found = om.grad(loss)(parameters, om.tensor(XS))
    (model(om.tensor(XS)) ** 2).sum().backward()
    for name, parameter in parameters.items():
        np.testing.assert_allclose(found[name].numpy(), parameter.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_gradients_in_a_recording_with_a_symbolic_number_of_steps():
    traced = om.trace(lambda x, w, xs: om.grad(lambda x: scanned(ops, x, w, xs))(x), *map(om.tensor, (X, W, XS)), axes={"xs": ("time", None)})
    session = traced.session()
    for count in (0, 1, 3, 8):
        xs = np.resize(XS, (count, 4))
        expected = peers(lambda lib, x: scanned(lib, x, torch.tensor(W), torch.tensor(xs)), [X], 1)[0]
        np.testing.assert_allclose(session(X, W, xs), expected, rtol=1e-4, atol=1e-6)


def test_a_gradient_step_inside_a_loop():
    def descended(x, w):
        return ops.fori_loop(0, 3, lambda i, v: v - 0.1 * om.grad(lambda u: ((w @ u) ** 2).sum())(v), x).sum()

    step = np.linalg.matrix_power(np.eye(4) - 0.2 * W.T.astype(np.float64) @ W, 3)
    np.testing.assert_allclose(om.grad(descended)(om.tensor(X), om.tensor(W)).numpy(), step.sum(0), rtol=1e-4)


def test_while_loop_has_no_gradient_but_may_stand_beside_one():
    doubled = lambda x: ops.while_loop(lambda v: v.sum() < 10, lambda v: v * 2, x)
    with pytest.raises(om.UnsupportedOpError, match=r"while_loop has no gradient.*test_control_flow.py(.|\n)*fori_loop"):
        om.grad(lambda x: doubled(x).sum())(om.tensor(abs(X)))
    np.testing.assert_allclose(om.grad(lambda x: (x * doubled(om.tensor(1.0))).sum())(om.tensor(X)).numpy(), np.full(4, 16.0))


def test_a_body_that_does_something_else_the_second_time_is_refused():
    calls = []

    def body(i, v):
        calls.append(0)
        return v * float(len(calls))

    with pytest.raises(om.TraceError, match=r"recorded again for its gradient(.|\n)*Python state"):
        om.grad(lambda x: ops.fori_loop(0, 3, body, x).sum())(om.tensor(X))
    with pytest.raises(om.TraceError, match="random numbers"):
        om.grad(lambda x: ops.fori_loop(0, 3, lambda i, v: ops.dropout(v), x).sum())(om.tensor(X))


def test_a_loop_that_grows_is_refused():
    with pytest.raises(om.TraceError, match=r"carried sizes change(.|\n)*test_control_flow.py"):
        om.grad(lambda x: ops.fori_loop(0, 3, lambda i, v: ops.concat([v, v]), x).sum())(om.tensor(X))
