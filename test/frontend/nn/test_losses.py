"""Losses against torch.nn.functional."""
import itertools
import warnings

import numpy as np
import pytest

import onemlir as om
from onemlir.errors import DTypeError, IndexRangeError, OnemlirError, ShapeError
from onemlir.frontend.nn import losses
from onemlir.frontend.tensor import Tensor

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)
REDUCTIONS = ("mean", "sum", "none")


def floats(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def probabilities(*shape):
    return RNG.uniform(0.01, 0.99, shape).astype(np.float32)


def signs(*shape):
    return RNG.choice([-1.0, 1.0], shape).astype(np.float32)


def compare(name, *arrays, tolerance=1e-5, **options):
    """Our loss and torch's on the same arrays; keyword arrays are tensors as well."""
    to_torch = lambda v: torch.from_numpy(v) if isinstance(v, np.ndarray) else v
    to_ours = lambda v: Tensor(v) if isinstance(v, np.ndarray) else v
    expected = getattr(torch.nn.functional, name)(*map(to_torch, arrays), **{k: to_torch(v) for k, v in options.items()}).numpy()
    found = getattr(losses, name)(*map(to_ours, arrays), **{k: to_ours(v) for k, v in options.items()}).numpy()
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    return found


BATCHES = [((5,), ()), ((3, 5), (3,)), ((3, 5, 4), (3, 4)), ((2, 5, 3, 2), (2, 3, 2))]
OPTIONS = [{}, {"ignore_index": 2}, {"weight": True}, {"weight": True, "ignore_index": 1}]


@pytest.mark.parametrize("shapes, options, smoothing, reduction", list(itertools.product(BATCHES, OPTIONS, (0.0, 0.3), REDUCTIONS)), ids=str)
def test_cross_entropy_of_classes(shapes, options, smoothing, reduction):
    x, target = floats(*shapes[0]), np.asarray(RNG.integers(0, 5, shapes[1]))
    options = options | ({"weight": probabilities(5)} if options.get("weight") else {})
    compare("cross_entropy", x, target, reduction=reduction, label_smoothing=smoothing, **options)
    if not smoothing:
        compare("nll_loss", x, target, reduction=reduction, **options)


@pytest.mark.parametrize("weighted, smoothing, reduction", itertools.product((False, True), (0.0, 0.3), REDUCTIONS))
@pytest.mark.parametrize("shape", [(5,), (3, 5), (3, 5, 4)])
def test_cross_entropy_of_probabilities(shape, weighted, smoothing, reduction):
    options = {"weight": probabilities(5)} if weighted else {}
    compare("cross_entropy", floats(*shape), probabilities(*shape), reduction=reduction, label_smoothing=smoothing, **options)


def test_cross_entropy_at_the_edges():
    with np.errstate(all="ignore"):
        assert np.isnan(compare("cross_entropy", floats(3, 4), np.full(3, -100))), "a mean over nothing"
    compare("cross_entropy", np.array([[1e4, -1e4, 0]], np.float32), np.array([1]))
    compare("cross_entropy", floats(3, 4, dtype=np.float64), np.array([1, 2, 3], np.int64))
    for target, error, word in ((np.array([0, 4, 1]), IndexRangeError, "class 4"), (np.array([0, -1, 1]), IndexRangeError, "class -1"),
                                (np.array([0, 1]), ShapeError, r"\(3,\)"), (np.array([True, False, True]), DTypeError, "bool")):
        with pytest.raises(error, match=word):
            losses.cross_entropy(Tensor(floats(3, 4)), Tensor(target))
    compiled = om.jit(om.value_and_grad(losses.cross_entropy))
    for target in ([0, 4, 1], [0, -1, 1]):
        with pytest.raises(IndexRangeError, match=f"cross_entropy: the target holds class {target[1]}, but there are 4 classes, at .*test_losses.py"):
            compiled(Tensor(floats(3, 4)), Tensor(np.array(target)))
    with pytest.raises(OnemlirError, match="label_smoothing.*2"):
        losses.cross_entropy(Tensor(floats(3, 4)), Tensor(np.zeros(3, np.int64)), label_smoothing=2)
    with pytest.raises(OnemlirError, match="'avg'"):
        losses.cross_entropy(Tensor(floats(3, 4)), Tensor(np.zeros(3, np.int64)), reduction="avg")


REGRESSION = [("mse_loss", {}), ("l1_loss", {}), ("smooth_l1_loss", {}), ("smooth_l1_loss", {"beta": 0.3}),
("smooth_l1_loss", {"beta": 0.0}), ("huber_loss", {}),
              ("huber_loss", {"delta": 0.4}), ("poisson_nll_loss", {}), ("soft_margin_loss", {})]


@pytest.mark.parametrize("name, options", REGRESSION, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_elementwise(name, options, reduction):
    target = signs(4, 3) if name == "soft_margin_loss" else floats(4, 3)
    compare(name, floats(4, 3), target, reduction=reduction, **options)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_likelihoods(reduction):
    counts = RNG.integers(0, 5, (4, 3)).astype(np.float32)
    compare("poisson_nll_loss", floats(4, 3), counts, full=True, reduction=reduction)
    compare("poisson_nll_loss", probabilities(4, 3), counts, log_input=False, reduction=reduction)
    compare("gaussian_nll_loss", floats(4, 3), floats(4, 3), probabilities(4, 3), full=True, reduction=reduction)
    compare("gaussian_nll_loss", floats(4, 3), floats(4, 3), np.zeros((4, 1), np.float32), reduction=reduction, tolerance=1e-4)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_cross_entropy(reduction):
    x, t, w = probabilities(4, 3), probabilities(4, 3), probabilities(3)
    compare("binary_cross_entropy", x, t, reduction=reduction)
    compare("binary_cross_entropy", x, t, weight=w, reduction=reduction)
    compare("binary_cross_entropy", np.array([0.0, 1.0, 0.0, 1.0], np.float32), np.array([0.0, 0.0, 1.0, 1.0], np.float32), reduction=reduction)
    z = floats(4, 3) * 50
    compare("binary_cross_entropy_with_logits", z, t, reduction=reduction)
    compare("binary_cross_entropy_with_logits", z, t, weight=w, pos_weight=probabilities(3) * 3, reduction=reduction)
    with pytest.raises(OnemlirError, match="between 0 and 1"):
        losses.binary_cross_entropy(Tensor(x + 1), Tensor(t))


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean"])
def test_kl_div(reduction):
    log_p, q = np.log(probabilities(4, 3)), probabilities(4, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare("kl_div", log_p, q, reduction=reduction)
        compare("kl_div", log_p, np.where(q > 0.5, q, 0).astype(np.float32), reduction=reduction)
        compare("kl_div", log_p, np.log(q), reduction=reduction, log_target=True)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_margins(reduction):
    a, b, c = floats(4, 3), floats(4, 3), floats(4, 3)
    compare("hinge_embedding_loss", a, signs(4, 3), reduction=reduction)
    compare("hinge_embedding_loss", a, signs(4, 3), margin=0.3, reduction=reduction)
    compare("margin_ranking_loss", a, b, signs(4, 3), margin=0.2, reduction=reduction)
    compare("cosine_embedding_loss", a, b, signs(4), margin=0.1, reduction=reduction)
    compare("cosine_embedding_loss", a[0], b[0], np.array(-1.0, np.float32), reduction=reduction)
    for p, swap in ((2, False), (1, True), (3, False), (float("inf"), False), (0, False)):
        compare("triplet_margin_loss", a, b, c, p=p, swap=swap, margin=0.7, reduction=reduction)
    target = np.array([0, 2, 1, 2])
    compare("multi_margin_loss", a, target, reduction=reduction)
    compare("multi_margin_loss", a, target, p=2, margin=0.4, weight=probabilities(3), reduction=reduction)
    compare("multi_margin_loss", a[0], np.array(1), reduction=reduction)


def test_hinge():
    x, t = np.array([0.5, 2.0, -1.0], np.float32), np.array([1.0, 1.0, 1.0], np.float32)
    np.testing.assert_allclose(losses.hinge_loss(Tensor(x), Tensor(t), reduction="none").numpy(), [0.5, 0.0, 2.0])
    assert losses.hinge_loss(x, -t).item() == pytest.approx((1.5 + 3 + 0) / 3)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss", "kl_div", "binary_cross_entropy"])
def test_shapes_must_agree(name):
    with pytest.raises(ShapeError, match=rf"{name}.*\(4,\).*\(4, 1\)"):
        getattr(losses, name)(Tensor(probabilities(4)), Tensor(probabilities(4, 1)))


AT_LIMITS = [  # name, arguments, by how many of them the gradient is taken, options
    ("binary_cross_entropy", ([0.0, 1.0, 0.0, 1.0, 0.5], [0.0, 0.0, 1.0, 1.0, 0.3]), 1, {}),
    ("margin_ranking_loss", ([1.0, 2.0], [1.0, 1.0], [1.0, -1.0]), 2, {}), ("multi_margin_loss", ([[1.0, 2.0, 0.0]], [1]), 1, {}),
    ("hinge_embedding_loss", ([1.0, 2.0], [-1.0, -1.0]), 1, {}), ("cosine_embedding_loss", ([[0.0, 0.0]], [[1.0, 2.0]], [-1.0]), 2, {}),
    ("triplet_margin_loss", ([[1.0, 2.0]], [[1.0, 2.0]], [[1.0, 3.0]]), 3, {"margin": 1.0, "eps": 0.0}),
    ("gaussian_nll_loss", ([[1.0, 2.0]], [[0.5, 2.0]], [[0.0, 1.0]]), 3, {}),
    ("gaussian_nll_loss", ([[1.0, 2.0]] * 3, [[0.5, 2.0]] * 3, [0.1, 1.0, 2.0]), 3, {}),
]


@pytest.mark.parametrize("name, values, count, options", AT_LIMITS, ids=str)
def test_gradients_at_limits_are_torchs(name, values, count, options):
    ours, theirs = ([make(v, requires_grad=i < count) for i, v in enumerate(values)] for make in (om.tensor, torch.tensor))
    expected = getattr(torch.nn.functional, name)(*theirs, **options)
    expected.backward()
    found = getattr(losses, name)(*ours, **options)
    found.backward()
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    for a, b in zip(ours[:count], theirs):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-4)


def test_variances_are_not_negative():
    with pytest.raises(OnemlirError, match="var must not be negative, found -1"):
        losses.gaussian_nll_loss(Tensor(floats(2)), Tensor(floats(2)), -1.0)


# Connectionist temporal classification.
def log_probs(steps, count, classes, dtype=np.float32):
    return torch.log_softmax(torch.from_numpy(floats(steps, count, classes, dtype=dtype) * 2), -1).numpy()


CTC = {
    "plain": (log_probs(9, 2, 5), [[1, 2, 3], [4, 1, 2]], [9, 9], [3, 3], {}),
    "repeats": (log_probs(9, 2, 5), [[1, 1, 1], [2, 2, 3]], [9, 7], [3, 3], {}),
    "lengths": (log_probs(9, 4, 5), [[1, 2, 3], [4, 0, 0], [2, 2, 0], [0, 0, 0]], [9, 5, 4, 3], [3, 1, 2, 0], {}),
    "joined": (log_probs(9, 3, 5), [1, 2, 3, 4, 2, 2], [9, 8, 6], [3, 1, 2], {}),
    "blank": (log_probs(9, 2, 5), [[1, 0, 3], [2, 1, 2]], [9, 9], [3, 3], {"blank": 4}),
    "tight": (log_probs(5, 2, 5), [[1, 1, 2], [1, 2, 3]], [4, 3], [3, 3], {}),
    "impossible": (log_probs(4, 2, 5), [[1, 1, 1], [1, 2, 3]], [4, 4], [3, 3], {}),
    "zeroed": (log_probs(4, 2, 5), [[1, 1, 1], [1, 2, 3]], [4, 4], [3, 3], {"zero_infinity": True}),
    "double": (log_probs(30, 2, 7, np.float64), [[1, 2, 3, 3, 3, 4, 5, 6], [1] * 8], [30, 29], [8, 8], {}),
    "long": (log_probs(300, 1, 4) * 3, [[1, 2, 3] * 30], [300], [90], {}),
    "no target": (log_probs(4, 2, 3), np.zeros((2, 0), np.int64), [4, 3], [0, 0], {}),
}


@pytest.mark.parametrize("case", CTC)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_ctc_is_torchs(case, reduction):
    x, targets, inputs, wanted, options = CTC[case]
    found = compare("ctc_loss", x, *(np.asarray(a, np.int64) for a in (targets, inputs, wanted)), reduction=reduction, tolerance=1e-4, **options)
    assert np.isinf(found).any() == (case == "impossible")


def test_ctc_of_one_sequence():
    x = log_probs(6, 1, 4)[:, 0]
    compare("ctc_loss", x, np.array([1, 2, 2]), np.array(6), np.array(3), reduction="none")


def test_ctc_sums_all_paths():
    """Against the definition: the sum over all paths, by brute force."""
    x = log_probs(4, 1, 3, np.float64)
    total = 0.0
    for path in itertools.product(range(3), repeat=4):
        merged = [c for c, before in zip(path, (None, *path)) if c != before]
        total += np.exp(sum(x[t, 0, c] for t, c in enumerate(path))) if [c for c in merged if c] == [1, 2] else 0
    found = losses.ctc_loss(Tensor(x), [[1, 2]], [4], [2], reduction="sum").item()
    assert found == pytest.approx(-np.log(total), rel=1e-12)


def test_ctc_without_probability():
    with np.errstate(all="ignore"):
        certain, impossible = (np.log(np.array(p, np.float32)) for p in ([[[0.0, 1.0]], [[0.5, 0.5]]], [[[1.0, 0.0]], [[1.0, 0.0]]]))
        assert losses.ctc_loss(Tensor(certain), [[1]], [2], [1], reduction="sum").item() == pytest.approx(0.0, abs=1e-6)
        assert losses.ctc_loss(Tensor(impossible), [[1]], [2], [1], reduction="sum").item() == np.inf


@pytest.mark.parametrize("arguments, error, word", [
    (([[1, 2, 3]], [9], [3]), OnemlirError, "input_lengths.*9"), (([[1, 9, 3]], [6], [3]), OnemlirError, "9"),
    (([[1, 2]], [6], [3]), ShapeError, "length 3"),
    (([[1, 2]], [6, 6], [2]), ShapeError, "input_lengths"), (([[1.5, 2.0]], [6], [2]), DTypeError, "targets"),
    (([1, 2], [6], [3]), ShapeError, "joined")])
def test_ctc_refuses(arguments, error, word):
    with pytest.raises(error, match=word):
        losses.ctc_loss(Tensor(log_probs(6, 1, 5)), *arguments)
    with pytest.raises(OnemlirError, match="blank 5"):
        losses.ctc_loss(Tensor(log_probs(6, 1, 5)), [[1]], [6], [1], blank=5)
