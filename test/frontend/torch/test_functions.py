"""Functions of torch that handlers compose of several ops, with symbolic sizes where they may have any, against torch."""
import pytest

torch = pytest.importorskip("torch")

import torch._higher_order_ops as higher_order  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import onemlir as om  # noqa: E402

ROWS = (("n", None), ("n", None), ("n", None))
NAN, INF = float("nan"), float("inf")
WEIGHT = torch.arange(1.0, 6.0)


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def classes(*shape):
    return (numbers(*shape, seed=1) * 10).long().abs() % 5


def signs(*shape):
    return numbers(*shape, seed=2).sign()


def definite(*shape):
    a = numbers(*shape)
    return a @ a.mT + torch.eye(shape[-1])


LOSSES = {
    "smoothed labels": (lambda x, t: F.cross_entropy(x, t, weight=WEIGHT, ignore_index=2, label_smoothing=0.2),
                        lambda n: (numbers(n, 5), classes(n))),
    "smoothed, each": (lambda x, t: F.cross_entropy(x, t, reduction="none", label_smoothing=0.2), lambda n: (numbers(n, 5), classes(n))),
    "probabilities": (lambda x, t: F.cross_entropy(x, t, weight=WEIGHT, label_smoothing=0.2),
                      lambda n: (numbers(n, 5, 2), numbers(n, 5, 2).softmax(1))),
    "poisson": (lambda x, t: F.poisson_nll_loss(x, t, full=True), lambda n: (numbers(n, 5), numbers(n, 5).abs() * 3)),
    "margin ranking": (lambda a, b, t: F.margin_ranking_loss(a, b, t, margin=0.1), lambda n: (numbers(n), numbers(n, seed=3), signs(n))),
    "hinge": (lambda x, t: F.hinge_embedding_loss(x, t), lambda n: (numbers(n, 5), signs(n, 5))),
    "cosine": (lambda a, b, t: F.cosine_embedding_loss(a, b, t), lambda n: (numbers(n, 5), numbers(n, 5, seed=3), signs(n))),
    "triplet": (lambda a, b, c: F.triplet_margin_loss(a, b, c, swap=True),
                lambda n: (numbers(n, 5), numbers(n, 5, seed=3), numbers(n, 5, seed=4))),
    "gaussian": (lambda x, t, v: F.gaussian_nll_loss(x, t, v, full=True),
                 lambda n: (numbers(n, 5), numbers(n, 5, seed=3), numbers(n, 1).abs())),
}  # fmt: skip
FUNCTIONS = {
    "cummax": (lambda x: torch.cummax(x.round(), 1), lambda n: (numbers(n, 5),)),
    "cummin": (lambda x: x.cummin(0), lambda n: (numbers(n, 5),)),
    "logcumsumexp": (lambda x: (torch.logcumsumexp(x, 1), x.logcumsumexp(0)),
                     lambda n: (torch.tensor([[0, 100, 200], [-50, 0, 60], [1, NAN, 3], [-INF, 1, INF]][:n]),)),
    "sums of uint8": (lambda x: (x.sum(), x.sum(0), x.prod(1), x.cumsum(1), x.cumprod(0), x[0, 0].cumsum(0), x.nansum(),
                                 x.sum(dtype=torch.uint8), x.any(), x.any(0), x.all(1), x.bool().any(), x.int().all()), lambda n: (classes(n, 5).byte() * 60,)),
    "median": (lambda x: (x.median(), x.median(0), x.median(1, keepdim=True), x[:2].median(), x[1].int().median(0),
                          x[2, 2].median(0)),
               lambda n: (torch.tensor([[0, 3, 2], [-5, 0, 6], [1, NAN, NAN], [-INF, 1, INF]][:n]),)),
    "cov": (torch.cov, lambda n: (numbers(n, 5),)),
    "corrcoef": (torch.corrcoef, lambda n: (numbers(n, 5),)),
    "trapezoid": (lambda y: torch.trapezoid(y, dx=0.5, dim=0), lambda n: (numbers(n, 5),)),
    "trapezoid at places": (lambda x, y: torch.trapezoid(y, x), lambda n: (numbers(n), numbers(3, n))),
    "matrix norms": (lambda x: (torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(x, 1), torch.linalg.norm(x, float("-inf"))),
                     lambda n: (numbers(n, 5),)),
    "rows searched": (lambda s, v: torch.searchsorted(s, v, right=True), lambda n: (numbers(n, 5).sort(-1)[0], numbers(n, 3, seed=3))),
    "histc": (lambda x: (torch.histc(x, 5), torch.histc(x, 4, -1, 1)), lambda n: (numbers(n),)),
    "gcd, lcm": (lambda a, b: (torch.gcd(a, b), torch.lcm(a, b)), lambda n: (classes(n) * 6, classes(n).flip(0) * 4 - 8)),
    "modified Bessel functions": (lambda x: (torch.i0(x), torch.special.i0e(x), torch.special.i1(x), torch.special.i1e(x)),
                                  lambda n: (torch.linspace(-20, 20, 6 * n + 1),)),
    "nanmedian": (lambda x: (x.nanmedian(), *x.nanmedian(1, keepdim=True), x.nanmedian(0).values),
                  lambda n: (torch.where(numbers(n, 5).abs() < 0.5, torch.nan, numbers(n, 5)),)),
    "erfinv": (lambda x: torch.erfinv(x), lambda n: (torch.linspace(-1, 1.1, 4 * n),)),
    "lgamma": (lambda x: torch.lgamma(x), lambda n: (torch.linspace(-3.25, 9.5, 17 * n),)),
    "lgamma next to poles": (lambda x: torch.lgamma(x), lambda n: (torch.tensor([-1e-6, 1e-6, -1e-30, -2 + 1e-6, 0])[:n],)),
    "inverse": (torch.inverse, lambda n: (definite(n, 3, 3),)),
    "solve": (lambda a, b: torch.linalg.solve(a, b), lambda n: (numbers(n, n).flip(0), numbers(n))),
    "solve triangular": (lambda a, b: torch.linalg.solve_triangular(a, b, upper=True, left=False),
                         lambda n: (definite(n, 3, 3).triu(), numbers(n, 2, 3))),
    "cholesky": (lambda a, b: (torch.linalg.cholesky(a), torch.cholesky_solve(b, torch.linalg.cholesky(a))),
                 lambda n: (definite(n, n), numbers(n, 2))),
    "determinants": (lambda a: (torch.linalg.det(a), torch.linalg.slogdet(a), torch.det(a * 0)), lambda n: (numbers(n, 3, 3),)),
    "bags": (lambda w, i, o: F.embedding_bag(i, w, o, padding_idx=1),
             lambda n: (numbers(6, 3), classes(n + 3), torch.tensor([0, 2, 2][:n] + [4] * (n - 3)))),
    "a step that is a float": (lambda x: torch.arange(x.shape[0], -1, -1.0) + x.sum(), lambda n: (numbers(n),)),
}  # fmt: skip


@pytest.mark.parametrize("name", [*LOSSES, *FUNCTIONS])
def test_function(name, agrees):
    function, inputs = (LOSSES | FUNCTIONS)[name]
    small, large = inputs(3), inputs(4)
    axes = tuple(tuple(om.Axis("n", min=2) if a != b else None for a, b in zip(s.shape, t.shape)) for s, t in zip(small, large))
    axes = tuple(tuple(axis and f"m{i}" if name == "bags" else axis for axis in a) for i, a in enumerate(axes))
    agrees(function, small, axes if len(axes) > 1 else axes[0], [large])


BAGS = {
    "sum": (dict(mode="sum", include_last_offset=True), [0, 1, 6]),
    "max": (dict(mode="max"), [0, 0, 2]),
    "rows": (dict(mode="max", padding_idx=-3), None),
}


@pytest.mark.parametrize("name", BAGS)
def test_embedding_bags(name, agrees):
    options, offsets = BAGS[name]
    weights = numbers(6) if name == "sum" else None
    shape = (2, 3) if offsets is None else (6,)
    indices, starts = classes(*shape), offsets and torch.tensor(offsets)
    agrees(lambda w: F.embedding_bag(indices, w, starts, per_sample_weights=weights, **options), (numbers(5, 3),))


def test_methods_whose_arguments_are_in_another_order(agrees):
    agrees(lambda x: (x.where(x > 0, -x), torch.where(x > 0, x, x * 2), (x > 0).where(x < 1, x > 2)), (numbers(3, 4),))


def test_grouped_products(agrees):
    """Products of mixtures of experts: each row by the matrix of its group; rows behind the last group are 0."""
    agrees(lambda x, w: F.grouped_mm(x, w, offs=torch.tensor([2, 2, 5], dtype=torch.int32))[:5], (numbers(6, 4), numbers(3, 4, 8)))


def test_a_product_and_gathered_elements_compile(agrees):
    """What a kernel cannot do on vectors runs behind it."""
    inputs = numbers(2, 3, 4), numbers(2, 4, 5), numbers(2, 3, 7), classes(2, 3, 5)
    agrees(lambda a, b, c, i: (a @ b + c.gather(-1, i)) * 0.5, inputs, compiled=True)


def test_memory_of_a_whole_tensor_is_strided_anew(agrees):
    agrees(lambda x: (x * 2).view(2, 6).as_strided((2, 2, 4), (6, 2, 1)), (numbers(12),))


TABLE = numbers(5, 3)
CHOICES = {
    "embedding": lambda i: F.embedding(i, TABLE),
    "gather": lambda i: TABLE.gather(0, i[:, None]),
    "index_select": lambda i: TABLE.index_select(0, i),
    "scatter": lambda i: TABLE.scatter(0, i[:, None], 1.0),
    "scatter_reduce": lambda i: TABLE.scatter_reduce(0, i[:, None], TABLE[:2, :1], "amax"),
    "index_add": lambda i: TABLE.index_add(0, i, TABLE[:2]),
    "index_copy": lambda i: TABLE.index_copy(0, i, TABLE[:2]),
    "one_hot": lambda i: F.one_hot(i, 5),
    "nll_loss": lambda i: F.cross_entropy(TABLE.T[:2], i),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_negative_indices_are_refused(name, agrees, interpreted):
    """Where torch does not count them from the end."""
    traced = agrees(CHOICES[name], (torch.tensor([1, 2]),))
    with pytest.raises(om.IndexRangeError, match=f"{name}: .*-1.*test_functions.py"):
        interpreted(traced, [torch.tensor([1, -1]).numpy()])


def test_a_window_longer_than_its_axis_is_refused(interpreted):
    unfold = lambda x: x.unfold(0, 3, 2)
    with pytest.raises(om.ShapeError, match="(?s)window of 3.*axis 0, of size 2"):
        om.trace(unfold, numbers(2))
    traced = om.trace(unfold, numbers(7), axes=(("n",),))
    assert [a.shape for a in interpreted(traced, [numbers(3).numpy()])] == [(1, 3)]
    with pytest.raises(om.ShapeError, match="window of 3.*test_functions.py"):
        interpreted(traced, [numbers(2).numpy()])


LINEAR = torch.nn.Linear(5, 3)
RAMP = torch.linspace(-3.3, 9.7, 13)
COUNTED = torch.tensor([1, 3, 3, 0, 2, 3])
PAIR = torch.nn.MaxPool2d(2, return_indices=True)
MORE = {
    "shapes in place": (lambda x: _shapes(x.clone()), lambda n: (numbers(n, 5),)),
    "sizes as tensors": (lambda x: (x[:torch.tensor(x.shape[0]) - 1], x.new_zeros(torch.tensor(x.shape[0]) * 2)), lambda n: (numbers(n, 5),)),
    "memory of symbolic size": (lambda x: (x * 2).as_strided((x.shape[0] - 1, 2, 5), (5, 5, 1)), lambda n: (numbers(n, 5),)),
    "a mask that is made": (lambda x: x * 2 if (torch.where(torch.arange(x.shape[0]) >= 0, 0.0, -3e38) > 0).any() else x, lambda n: (numbers(n, 5),)),
    "factors of matrices": (lambda a: (torch.linalg.qr(a), torch.linalg.qr(a.mT, "complete"), torch.linalg.svdvals(a), torch.linalg.pinv(a),
                                       torch.linalg.matrix_norm(a, "nuc"), torch.linalg.matrix_norm(a, -2, keepdim=True)), lambda n: (numbers(n, 3, 2),)),
    "products of factors": (lambda a: _products(torch.linalg.svd(a, full_matrices=False), torch.linalg.eigh(a @ a.mT - 1)), lambda n: (numbers(n, 2, 3),)),
    "least squares": (lambda a, b: torch.linalg.lstsq(a, b).solution, lambda n: (numbers(n, 4, 3), numbers(n, 4, 2, seed=3))),
    "bincount": (lambda i: (torch.bincount(i), torch.bincount(i, minlength=5)[:4]), lambda n: (COUNTED[:n + 1],)),
    "bincount of weights": (lambda i, w: torch.bincount(i, w, minlength=6), lambda n: (COUNTED[:n], numbers(n))),
    "mode": (lambda x: (x.mode(), x.mode(0, keepdim=True), x.long().mode(1)), lambda n: ((numbers(n, 5) * 2).round(),)),
    "nextafter": (lambda a, b: torch.nextafter(a, b), lambda n: (torch.tensor([0, 1, -1, INF])[:n], torch.tensor([-1, 3, -INF, NAN])[:n])),
    "digamma": (torch.digamma, lambda n: (torch.cat([RAMP[:2 * n], torch.tensor([0.0, -0.0, -2.0, INF, 1e4])]),)),
    "vander": (lambda x: (torch.vander(x, increasing=True), torch.vander(x, N=3), torch.linalg.vander(x[None], N=2)), lambda n: (numbers(n),)),
    "pdist": (lambda x: (F.pdist(x), F.pdist(x, 1.0)), lambda n: (numbers(n, 5),)),
    "max_unpool": (lambda x: torch.nn.MaxUnpool2d(2)(*PAIR(x)), lambda n: (numbers(2, n, 6, 4),)),
    "global pooling with indices": (lambda x: F.adaptive_max_pool1d(x, 1, return_indices=True), lambda n: (numbers(2, 3, n),)),
    "vmap": (lambda a, b: (torch.vmap(torch.dot)(a, b), torch.vmap(lambda u: torch.vmap(lambda v: (u * v).sum(), out_dims=0)(b))(a)),
             lambda n: (numbers(n, 5), numbers(n, 5, seed=3))),
    "vmap of columns": (lambda x: torch.vmap(lambda u, s: u.softmax(0) * s, in_dims=(1, None), out_dims=1)(x, 3.0), lambda n: (numbers(n, 5),)),
    "functional_call": (lambda x: torch.func.functional_call(LINEAR, {"weight": LINEAR.weight * 2}, (x,)), lambda n: (numbers(n, 5),)),
    "ctc": (lambda p, t, i, l: F.ctc_loss(p.log_softmax(-1), t, i, l, zero_infinity=True),
            lambda n: (numbers(4 + n, n, 5), classes(n, n).clamp(min=1), torch.arange(1, n + 1) + 3, torch.arange(n) + 1)),
    "ctc of each": (lambda p: F.ctc_loss(p.log_softmax(-1), torch.tensor([1, 2, 2, 3, 1]), (5, 5), (3, 2), reduction="none"), lambda n: (numbers(4 + n, 2, 5),)),
    "no rows": (lambda x: (x.cummax(0), torch.unique_consecutive(x[:, 0], return_inverse=True, return_counts=True)), lambda n: (numbers(n % 4, 5),)),
}  # fmt: skip


def _products(parts, eigen):
    (u, s, vh), (values, vectors) = parts, eigen
    return s, (u * s[..., None, :]) @ vh, values, (vectors * values[..., None, :]) @ vectors.mT, vectors.mT @ vectors


def _shapes(x):
    row = x[0]
    x.unsqueeze_(0)
    x.mul_(2)
    x.transpose_(1, 2)
    x += 1
    y = (x * 2).flatten().resize_(x.shape[-1], 5)
    y.t_().squeeze_()
    return x, row, y, x.dim()


@pytest.mark.parametrize("name", MORE)
def test_more_functions(name, agrees):
    function, inputs = MORE[name]
    small, large = inputs(3), inputs(4)
    axes = tuple(tuple(None if a == b else "n" if b == 0 else om.Axis("n", min=2) if b == 4 else f"m{i}" for a, b in zip(s.shape, t.shape))
                 for i, (s, t) in enumerate(zip(small, large)))
    agrees(function, small, axes if len(axes) > 1 else axes[0], [large])


def test_a_decomposition_that_asks_for_a_size_is_named():
    with pytest.raises(om.TraceError, match="(?s)test_functions.*torch's decomposition of special_zeta"):
        om.trace(torch.special.zeta, numbers(2, 3), numbers(2, 3), axes=ROWS[:2])


def test_autocast(agrees):
    layer, norm = torch.nn.Linear(5, 4), torch.nn.LayerNorm(4)
    attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
    dtypes = []

    def program(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = norm(layer(x))
            results = y, y.softmax(-1) + x[..., :4], y @ y.mT, F.mse_loss(y, x[..., :4]), attention(y, y, y)[0], torch.cat([y, x[..., :4]]), y.exp().sum()
            with torch.autocast("cpu", enabled=False):
                results += (norm(y.float()),)
        dtypes.append([r.dtype for r in results])
        return [r.float() for r in results]

    agrees(program, (numbers(2, 3, 5),), ("n", None, None), [(numbers(3, 3, 5),)], rtol=5e-2, atol=5e-2)
    assert dtypes[0] == dtypes[-1]


def test_scans_are_loops_in_the_graph(interpreted):
    """Compared with loops in Python: torch compiles its own."""
    def program(x):
        sums = higher_order.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x, x + 1), 0, True, "generic")
        return *sums, *higher_order.scan(lambda c, row: (c + row, c * row), x[0] * 0, x.T, dim=1)

    traced = om.trace(program, numbers(3, 2), axes=(om.Axis("n", min=1), None))
    x = numbers(4, 2)
    factors, total, carried, products = [x[3]], [x[3] + 1], x[0] * 0, []
    for row in x.flip(0)[1:]:
        factors, total = [factors[0] * row, *factors], [row * total[0] + row + 1, *total]
    for row in x:
        carried, products = carried + row, [*products, carried * row]
    for ours, theirs in zip(interpreted(traced, [x.numpy()]), (torch.stack(factors), torch.stack(total), carried, torch.stack(products, 1))):
        torch.testing.assert_close(torch.from_numpy(ours.copy()), theirs)
