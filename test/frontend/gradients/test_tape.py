"""The tape: leaves, accumulation, modes, hooks, changes in place, higher derivatives."""
import gc
import weakref

import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops
from onemlir.frontend import autograd


def leaf(*values, dtype=np.float64):
    return om.tensor(np.array(values, dtype), requires_grad=True)


def test_gradients_add_up_until_they_are_forgotten():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_tensor_used_twice_gets_both_gradients():
    x = leaf(2.0)
    y = x * x
    (y * y + y).sum().backward()
    assert x.grad.tolist() == [4 * 8.0 + 4.0]


def test_only_floating_tensors_have_gradients():
    with pytest.raises(om.DTypeError, match="only floating tensors have gradients, found int64"):
        om.tensor([1, 2]).requires_grad_()
    with pytest.raises(om.DTypeError, match="only floating tensors have gradients, found int64"):
        om.tensor([1, 2], requires_grad=True)
    x = leaf(1.0, 2.0)
    assert not (x > 1).requires_grad and not x.astype(om.int64).requires_grad and not ops.argmax(x).requires_grad


def test_leaves():
    x = leaf(1.0)
    y = x + 1
    assert x.is_leaf and not y.is_leaf and y.requires_grad and y.detach().is_leaf and not y.detach().requires_grad
    y.sum().backward()
    assert y.grad is None and x.grad is not None


def test_retained_gradients():
    x = leaf(1.0, 3.0)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0, 12.0]


def test_no_grad_and_enable_grad():
    x = leaf(1.0)
    with om.no_grad():
        assert not (x * 2).requires_grad
        with om.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_no_grad_ends_after_an_error():
    with pytest.raises(ZeroDivisionError), om.no_grad():
        1 / 0
    assert autograd.grad_enabled()


def test_a_gradient_needs_one_element_or_its_own_gradient():
    x = leaf(1.0, 2.0)
    with pytest.raises(om.ShapeError, match=r"found shape \(2,\): reduce it"):
        (x * 2).backward()
    with pytest.raises(om.ShapeError, match=r"must have that shape, found \(3,\)"):
        (x * 2).backward(om.tensor([1.0, 1.0, 1.0]))
    (x * 2).backward(om.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 20.0]


def test_backward_of_what_needs_no_gradient():
    with pytest.raises(om.OnemlirError, match="depends on nothing which requires gradients"):
        om.tensor(1.0).backward()


def test_steps_have_gradients_of_zeros():
    x = leaf(1.5, -2.5)
    ops.floor(x * 2).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0])


def test_hooks_see_and_replace_complete_gradients():
    x, seen = leaf(1.0), []
    y = x * 2
    handle = y.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    (y + y).sum().backward()
    assert seen == [[2.0]] and x.grad.tolist() == [40.0]
    handle.remove()
    x.grad = None
    (y + y).sum().backward()
    assert x.grad.tolist() == [4.0]


def test_hooks_of_leaves_run_once():
    x, seen = leaf(1.0), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 2 + x * 3).sum().backward()
    assert seen == [[5.0]]


def test_operands_changed_in_place_are_noticed_where_they_are_needed():
    x, w = leaf(1.0, 2.0), om.tensor(np.array([3.0, 4.0]))
    y, z = (x * w).sum(), (x + w).sum()
    w[0] = 7.0
    z.backward()
    with pytest.raises(om.OnemlirError, match=r"multiply needs its operand 'y' float64\(2,\), which was changed in place since"):
        y.backward()


def test_leaves_are_changed_in_no_grad_alone():
    x = leaf(1.0, 2.0)
    with pytest.raises(om.OnemlirError, match="setitem: a tensor requires gradients"):
        x[0] = 1.0
    with pytest.raises(om.OnemlirError, match="in-place add: a tensor requires gradients"):
        x += 1
    with pytest.raises(om.OnemlirError, match="setitem: the value requires gradients"):
        om.zeros((2,))[0] = x[0]
    before = x
    with om.no_grad():
        x -= 0.5
        x[1] = 9.0
    assert x is before and x.tolist() == [0.5, 9.0]


def test_in_place_arithmetic_on_results_gives_a_new_tensor():
    x = leaf(2.0)
    y = z = x * 3
    y *= y
    y.sum().backward()
    assert z.tolist() == [6.0] and x.grad.tolist() == [36.0]


def test_gradients_of_gradients():
    x = leaf(0.5, 2.0)
    (first,) = autograd.gradients([(x ** 3).sum()], [x], create_graph=True)
    (second,) = autograd.gradients([first.sum()], [x], create_graph=True)
    (third,) = autograd.gradients([second.sum()], [x])
    np.testing.assert_allclose([first.numpy(), second.numpy(), third.numpy()], [[0.75, 12.0], [3.0, 12.0], [6.0, 6.0]])
    assert x.grad is None


def test_gradients_by_intermediate_results_stop_there():
    x = leaf(2.0)
    y = x * 3
    dy, dx = autograd.gradients([(y * y).sum()], [y, x])
    assert dy.tolist() == [12.0] and dx.tolist() == [36.0]
    assert autograd.gradients([y.sum()], [leaf(1.0)]) == [None]


def test_mixed_dtypes_get_gradients_of_their_own():
    x, y = leaf(1.0, dtype=np.float32), leaf(2.0, dtype=np.float64)
    (x * y).sum().backward()
    assert x.grad.dtype == om.float32 and y.grad.dtype == om.float64
    z = om.tensor(np.array([1.0, 2.0]), dtype="bfloat16", requires_grad=True)
    (ops.layer_norm(z, 2) * om.tensor([1.0, 3.0])).sum().backward()
    assert str(z.grad.dtype) == "bfloat16"


def test_nothing_holds_itself_alive():
    x = leaf(1.0)
    gc.disable()
    try:
        y = ops.exp(x) * 2
        node = weakref.ref(y._tape[0])
        del y
        assert node() is None
    finally:
        gc.enable()


def test_deep_graphs_do_not_overflow_the_stack():
    x = y = leaf(1.0)
    for _ in range(5000):
        y = y * 1.0001
    y.sum().backward()
    np.testing.assert_allclose(x.grad.item(), 1.0001**5000)


def test_backward_is_refused_in_a_recording():
    weight = nn.Parameter(np.ones(2, np.float32))
    with pytest.raises(om.TraceError, match=r"backward\(\) cannot be recorded"):
        om.trace(lambda x: (x * weight).sum().backward(), om.ones((2,)))
