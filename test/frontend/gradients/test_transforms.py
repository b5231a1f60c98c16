"""jit, grad, value_and_grad: compiled gradients, alone and inside of recordings."""
import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops, optim


def test_gradients_agree_with_the_tape():
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    function = lambda t: (ops.softmax(t) * ops.sin(t)).sum()
    value, gradient = om.value_and_grad(function)(om.tensor(x))
    leaf = om.tensor(x, requires_grad=True)
    function(leaf).backward()
    np.testing.assert_allclose(value.item(), function(leaf).item(), rtol=1e-5)
    np.testing.assert_allclose(gradient.numpy(), leaf.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_gradients_of_gradients_are_one_graph():
    second = om.grad(om.grad(lambda x: x ** 3))
    assert second(om.tensor(2.0)).item() == pytest.approx(12.0)
    assert om.grad(second)(om.tensor(2.0)).item() == pytest.approx(6.0)


def test_structures_argument_numbers_and_further_results():
    def function(parameters, x, scale):
        y = parameters["w"] * x + parameters["rest"][0]
        return (y * y).sum() * scale, {"y": y}

    parameters = {"w": om.tensor([1.0, 2.0]), "rest": [om.tensor([0.5, 0.5])]}
    (value, more), (by_parameters, by_x) = om.value_and_grad(function, argnums=(0, 1), has_aux=True)(parameters, om.tensor([1.0, 1.0]), 2.0)
    assert value.item() == 2 * (1.5**2 + 2.5**2) and more["y"].tolist() == [1.5, 2.5]
    assert by_parameters["w"].tolist() == [6.0, 10.0] and by_parameters["rest"][0].tolist() == [6.0, 10.0] and by_x.tolist() == [6.0, 20.0]


def test_arguments_that_do_not_matter_have_zero_gradients():
    assert om.grad(lambda x, y: y.sum())(om.ones((2,)), om.ones((3,))).tolist() == [0.0, 0.0]


def test_values_and_arguments_that_have_no_gradient():
    with pytest.raises(om.ShapeError, match=r"a value of one element, found shape \(2,\)"):
        om.grad(lambda x: x * 2)(om.ones((2,)))
    with pytest.raises(om.DTypeError, match="by floating tensors, found int64"):
        om.grad(lambda x: x.sum())(om.tensor([1, 2]))
    with pytest.raises(om.DTypeError, match="must give one floating tensor, found int64"):
        om.grad(lambda x: ops.argmax(x))(om.ones((2,)))


def test_a_new_shape_or_constant_is_compiled_anew():
    function = om.grad(lambda x, power: (x ** power).sum())
    assert function(om.tensor([1.0, 2.0]), 2).tolist() == [2.0, 4.0]
    assert function(om.tensor([1.0, 2.0]), 3).tolist() == [3.0, 12.0]
    assert function(om.tensor([3.0]), 3).tolist() == [27.0]


def test_parameters_found_elsewhere_are_read_at_each_call():
    model = nn.Linear(3, 1)
    function = om.grad(lambda x: model(x).sum())
    x = om.ones((2, 3))
    for values in ([[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]):
        model.weight._array[...] = values
        np.testing.assert_array_equal(function(x).numpy(), values * 2)


def test_what_is_computed_from_parameters_alone_is_computed_at_each_call():
    scale = om.tensor([1.0, 2.0])
    function = om.jit(lambda x: x * (scale + 1))
    assert function(om.ones((2,))).tolist() == [2.0, 3.0]
    scale[0] = 10.0
    assert function(om.ones((2,))).tolist() == [11.0, 3.0]


def test_dropout_is_drawn_at_each_call_as_eager_does():
    layer, x = nn.Dropout(0.5), om.ones((64,))
    compiled = om.value_and_grad(lambda t: layer(t).sum())
    compiled(x)
    om.manual_seed(3)
    found = [compiled(x)[1].tolist() for _ in range(2)]
    om.manual_seed(3)
    assert found == [layer(x).tolist() for _ in range(2)]
    assert found[0] != found[1]


def test_batch_norm_in_training_changes_its_statistics_at_each_call():
    x = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    eager, compiled = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    function = om.grad(lambda t: (compiled(t) ** 3).sum())
    for _ in range(3):
        leaf = om.tensor(x, requires_grad=True)
        (eager(leaf) ** 3).sum().backward()
        np.testing.assert_allclose(function(om.tensor(x)).numpy(), leaf.grad.numpy(), rtol=1e-3, atol=1e-4)
    for name, value in eager.state_dict().items():
        np.testing.assert_allclose(compiled.state_dict()[name], value, rtol=1e-5, err_msg=name)


def test_losses_and_dropout_stay_refused_in_recordings_for_inference():
    with pytest.raises(om.TraceError, match="mse_loss cannot be recorded"):
        om.trace(lambda x: nn.losses.mse_loss(x, x), om.ones((2,)))
    with pytest.raises(om.TraceError, match="dropout .* cannot be recorded"):
        om.trace(lambda x: nn.Dropout(0.5)(x), om.ones((2,)))
    with pytest.raises(om.TraceError, match="dropout cannot be recorded"):
        om.trace(lambda x: om.grad(lambda t: ops.dropout(t).sum())(x), om.ones((2,)))


def test_changes_in_place_are_refused_while_differentiating():
    def function(x):
        y = x * 2
        y[0] = 0.0
        return y.sum()

    with pytest.raises(om.TraceError, match="setitem .* where gradients are wanted cannot be recorded"):
        om.grad(function)(om.ones((2,)))


def test_ctc_is_compiled():
    targets, inputs, lengths = np.array([[1, 2, 2], [3, 1, 4]]), np.array([6, 5]), np.array([3, 2])
    function = lambda t: nn.losses.ctc_loss(ops.log_softmax(t, axis=-1), targets, inputs, lengths)
    x = np.random.default_rng(1).normal(size=(6, 2, 5))
    leaf = om.tensor(x, requires_grad=True)
    function(leaf).backward()
    np.testing.assert_allclose(om.grad(function)(om.tensor(x)).numpy(), leaf.grad.numpy(), rtol=1e-6, atol=1e-9)


def convolutional():
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10))


def test_a_training_step_traced_with_om_trace():
    om.manual_seed(0)
    model, optimizer = convolutional(), optim.SGD((), lr=0.1, momentum=0.9)
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    rng = np.random.default_rng(0)
    images, labels = rng.normal(size=(5, 1, 8, 8)).astype(np.float32), rng.integers(0, 10, 5)

    def loss_of(p, x, y):
        return nn.losses.cross_entropy(nn.functional_call(model, p, x), y)

    def train_step(p, state, x, y):
        loss, slopes = om.value_and_grad(loss_of)(p, x, y)
        return *optimizer.update(p, slopes, state), loss

    traced = om.trace(train_step, parameters, optimizer.init(parameters), om.tensor(images), om.tensor(labels))
    session = traced.session()
    flat = lambda p, s: [*p.values(), s["step"], *s["velocity"].values()]
    found, state, loss = session(*[t.numpy() for t in flat(parameters, optimizer.init(parameters))], images, labels)
    own = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    expected = nn.losses.cross_entropy(model(om.tensor(images)), labels)
    expected.backward()
    own.step()
    np.testing.assert_allclose(loss, expected.item(), rtol=1e-5)
    for name, p in model.named_parameters():
        np.testing.assert_allclose(found[name], p.numpy(), rtol=1e-4, atol=1e-6, err_msg=name)


def test_a_training_step_with_a_symbolic_batch():
    om.manual_seed(0)
    model = convolutional()
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def step(p, x, y):
        return om.value_and_grad(lambda p: nn.losses.mse_loss(nn.functional_call(model, p, x), y))(p)

    session = om.trace(step, parameters, om.zeros((3, 1, 8, 8)), om.zeros((3, 10)), axes={"x": ("n", None, None, None), "y": ("n", None)}).session()
    rng = np.random.default_rng(1)
    for batch in (2, 7):
        x, y = rng.normal(size=(batch, 1, 8, 8)).astype(np.float32), rng.normal(size=(batch, 10)).astype(np.float32)
        loss, found = session(*[t.numpy() for t in parameters.values()], x, y)
        model.zero_grad()
        expected = nn.losses.mse_loss(model(om.tensor(x)), y)
        expected.backward()
        np.testing.assert_allclose(loss, expected.item(), rtol=1e-4)
        for name, p in model.named_parameters():
            np.testing.assert_allclose(found[name], p.grad.numpy(), rtol=1e-3, atol=1e-4, err_msg=name)


CASES = {
    "linear": (lambda a, b: ops.linear(a, b), (3, 4), (2, 4)), "matmul": (ops.matmul, (2, 3, 4), (4, 2)), "gather": (lambda a, b: ops.take(a * b, np.array([2, 0, 2]), axis=0), (3, 4), (3, 4)),
    "sort": (lambda a, b: ops.sort(a) * b, (3, 4), (3, 4)), "slice": (lambda a, b: a[::-1, 1:3] * b, (3, 4), (3, 2)), "cumprod": (lambda a, b: ops.cumprod(a, 1) * b, (2, 3), (2, 3)),
    "layer_norm": (lambda a, b: ops.layer_norm(a, 4, b), (3, 4), (4,)), "max": (lambda a, b: ops.max(a * b, axis=1), (3, 4), (3, 4)),
    "pooling": (lambda a, b: nn.MaxPool2d(3, 2, 1)(a) + nn.AvgPool2d(2, 1)(b).mean(), (1, 2, 6, 6), (1, 1, 4, 4)),
    "strided": (lambda a, b: ops.conv(a, b, stride=2, padding=1), (2, 3, 7, 7), (4, 3, 3, 3)), "attention": (lambda a, b: ops.scaled_dot_product_attention(a, b, b), (2, 3, 4), (2, 5, 4)),
    "interpolate": (lambda a, b: ops.interpolate(a, (5, 5), mode="bilinear") * b, (1, 1, 3, 3), (1, 1, 5, 5)),
}


@pytest.mark.parametrize("name", CASES)
def test_compiled_rules_agree_with_eager_ones(name):
    function, *shapes = CASES[name]
    arrays = [np.random.default_rng(i).normal(size=s).astype(np.float32) for i, s in enumerate(shapes)]
    total = lambda *t: ops.sum(ops.square(function(*t)))
    leaves = [om.tensor(a, requires_grad=True) for a in arrays]
    total(*leaves).backward()
    for found, leaf in zip(om.grad(total, argnums=(0, 1))(*map(om.tensor, arrays)), leaves):
        np.testing.assert_allclose(found.numpy(), leaf.grad.numpy(), rtol=1e-3, atol=1e-4)
