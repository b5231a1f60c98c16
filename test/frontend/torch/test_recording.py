"""The rules of a recording hold for torch programs: reads, in-place changes, names, modes, weights, errors."""
import pathlib
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import onemlir as om  # noqa: E402
from onemlir.frontend.torch import register_op, registry  # noqa: E402

HERE = pathlib.Path(__file__).name


def branch(x):
    return x * 2 if x.sum() > 0 else x * 3


def test_branch_on_data_is_refused_with_the_line():
    with pytest.raises(om.TraceError, match=HERE):
        om.trace(branch, torch.tensor([2.0]))


def test_branch_frozen_or_guarded(interpreted):
    with pytest.warns(om.FrozenValueWarning):
        frozen = om.trace(branch, torch.tensor([2.0]), on_read="freeze")
    assert interpreted(frozen, [np.array([-1.0], np.float32)])[0] == -2
    guarded = om.trace(branch, torch.tensor([2.0]), on_read="guard")
    with pytest.raises(om.GuardError):
        interpreted(guarded, [np.array([-1.0], np.float32)])


def test_item_of_constants_is_known(interpreted):
    traced = om.trace(lambda x: x * torch.arange(3).sum().item(), torch.ones(2))
    assert interpreted(traced, [np.ones(2, np.float32)])[0].tolist() == [3, 3]


IN_PLACE = {
    "diagonals": lambda x: _diagonals(x),
    "slice": lambda x: _set(x.clone(), (slice(None), 0), 5.0),
    "mask": lambda x: _set(x.clone(), x > 0, 0.0),
    "index tensor": lambda x: _set(x.clone(), (slice(None), torch.tensor([0, 2])), x[:, 1:2] * 10),
    "add_ to a view": lambda x: _changed_view(x.clone()),
    "transposed view": lambda x: _changed_transpose(x.clone()),
    "new tensor": lambda x: _filled(x),
    "chunk": lambda x: _changed_chunk(x.clone()),
    "relu_": lambda x: torch.nn.functional.relu(x - 0.5, inplace=True).mul_(2).clamp_(max=1),
    "copies and views": lambda x: _copies(x.clone()),
    "inplace=True": lambda x: _relu_inside(x.clone()),
    "masked_fill_": lambda x: x.clone().masked_fill_(x < 0, -1),
    "copy_": lambda x: torch.zeros(x.shape).copy_(x),
    "index_add_": lambda x: x.clone().index_add_(1, torch.tensor([0, 0]), x[:, :2]),
    "scatter_": lambda x: torch.zeros_like(x).scatter_(1, torch.tensor([[1, 0], [2, 2]]), 1.0),
    "out": lambda x: torch.add(x, 1, out=torch.empty_like(x)),
}


def _set(x, key, value):
    x[key] = value
    return x


def _changed_view(x):
    y = x[:, 1:]
    y.add_(1)
    y[0] *= 3
    return x, y


def _changed_transpose(x):
    x.t()[0].zero_()
    x.view(-1)[1] = 7
    return x


def _copies(x):
    x.t().reshape(-1).add_(1)  # a copy
    x.permute(1, 0).contiguous().mul_(3)  # a copy
    x.reshape(-1)[0] = 9  # a view
    x.contiguous().sub_(0.5)  # the same tensor
    x[1].flatten().mul_(2)
    return x


def _relu_inside(x):
    torch.nn.functional.relu(x[:, :2], inplace=True)
    torch.nn.ELU(inplace=True)(x[0])
    return x


def _filled(x):
    out = torch.zeros(2, 4)
    out[:, :3] = x
    row = out[1]
    out[1, 0] = 9
    return out, row + 1


def _changed_chunk(x):
    a, b, c = x.chunk(3, dim=1)
    a += b
    return x, a * c


def _diagonals(x):
    y, z = x.clone(), torch.stack([x, x, x])
    y.diagonal().fill_(3.0)
    y.diagonal(1).add_(x[0, :2])
    y.t().diagonal(1).neg_()
    z.diagonal(-1, 0, 2).mul_(2)
    return y, z, x.diagonal_scatter(x[0, :1], -1), x.mH, x.new_tensor([1, 2])


def _changed(x, make):
    z = x * 2
    y = make(z)
    y += 1
    return z, y


COPIES_AND_VIEWS = {
    "rows at the front": lambda z: z[:, :3].reshape(-1),
    "an axis of a slice, split": lambda z: z[:, :4].reshape(-1, 2, 2),
    "an axis of a transpose, split": lambda z: z.t().reshape(2, 3, -1),
    "flat transpose": lambda z: z.t().flatten(),
    "contiguous column": lambda z: z[:, 0].contiguous(),
    "contiguous whole": lambda z: z.contiguous(),
    "chunk": lambda z: z.chunk(2, dim=1)[1].reshape(-1),
    "keeps the order of a transpose": lambda z: (z.t() + 1).reshape(-1),
    "windows": lambda z: z.unfold(1, 3, 3).reshape(-1, 6),
    "windows that overlap": lambda z: z.unfold(1, 3, 2).reshape(-1, 3),
    "view of a copy": lambda z: z[:, ::2].reshape(-1).view(-1, 3)[:, 0],
}


@pytest.mark.parametrize("name", COPIES_AND_VIEWS)
def test_reshape_copies_where_torch_does(name, agrees):
    """What is written shows in the tensor that was reshaped where torch gives a view of it; read before and after the write."""
    torch.manual_seed(0)
    program = lambda x: _changed(x, COPIES_AND_VIEWS[name])
    agrees(program, (torch.randn(4, 6),), ("n", None), [(torch.randn(3, 6),), (torch.randn(2, 6),)])


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name, agrees):
    torch.manual_seed(0)
    agrees(IN_PLACE[name], (torch.randn(2, 3),), None, [(torch.randn(2, 3),)])


def test_changing_an_input_or_buffer():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            self.count += 1
            return x + self.count

    model = Counter()
    with pytest.raises(om.TraceError, match="'count'"):
        om.trace(model, torch.ones(2))
    assert model.count == 0


def test_modes_are_restored_and_dropout_is_off():
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Sequential(torch.nn.Linear(3, 3)).eval())
    traced = om.trace(model, torch.ones(2, 3))
    assert model.training and model[0].training and not model[1].training
    assert "linear" in traced.mlir()


def test_random_is_refused():
    with pytest.raises(om.TraceError, match="random"):
        om.trace(lambda x: x + torch.randn(2), torch.ones(2))


def test_parameters_share_memory_and_changes_are_noticed():
    model = torch.nn.Linear(3, 2)
    traced = om.trace(model, torch.ones(1, 3))
    assert list(traced.parameters) == ["weight", "bias"]
    assert np.shares_memory(traced.parameters["weight"], model.weight.detach().numpy())
    with torch.no_grad():
        model.weight.add_(1)
    with pytest.raises(om.OnemlirError, match="'weight' was changed in place"):
        traced.session()


def test_bfloat16_weights(interpreted):
    model = torch.nn.Linear(3, 2).bfloat16()
    traced = om.trace(model, torch.ones(1, 3, dtype=torch.bfloat16))
    found = interpreted(traced, [np.ones((1, 3), om.bfloat16)])[0]
    np.testing.assert_allclose(found.astype(np.float32), model(torch.ones(1, 3, dtype=torch.bfloat16)).float().detach().numpy(), rtol=2e-2)


def test_paths_and_lines():
    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.ModuleList([torch.nn.Linear(3, 3)])

        def forward(self, x):
            return self.inner[0](x)

    text = om.trace(Outer(), torch.ones(2, 3)).mlir(locations=True)
    assert '"inner.0"' in text and HERE in text and "torch/nn" not in text


def test_called_with_tensors_gives_tensors():
    class Named(torch.nn.Module):
        def forward(self, x, y):
            return {"sum": x + y, "pair": (x, [y])}

    traced = om.trace(Named(), (torch.ones(2), torch.ones(2)))
    result = traced(torch.ones(2), torch.full((2,), 3.0))
    assert torch.equal(result["sum"], torch.full((2,), 4.0)) and isinstance(result["pair"][1], list)
    assert traced.output_names == ["sum", "pair.0", "pair.1.0"] and "om.add" in traced.graph and "om.add" in traced.code
    assert isinstance(traced(np.ones(2, np.float32), np.ones(2, np.float32))["sum"], np.ndarray)


def test_save_and_load(tmp_path):
    model = torch.nn.Linear(3, 2)
    om.trace(model, torch.ones(1, 3)).save(tmp_path / "model.onemodel")
    assert set(om.load(tmp_path / "model.onemodel").parameters) == {"weight", "bias"}


def test_promotion(agrees):
    half, integers, wide = torch.ones(2).half(), torch.arange(2), torch.tensor(2.0, dtype=torch.float64)

    def mix(x):
        return x + integers, integers / 2, integers + 1.5, x * wide, half + x, integers // 2, integers ** 2, (x > 0) + 1, integers.sum(), integers.float().mean()

    agrees(mix, (torch.randn(2),))


def test_missing_functions_are_listed_together():
    def program(x):
        return torch.special.bessel_j0(x).sum() + torch.fft.fft(x).sinh().real

    with pytest.raises(om.UnsupportedOpError) as caught:
        om.trace(program, torch.ones(2, 2))
    assert "bessel" in str(caught.value) and "sinh of complex numbers" in str(caught.value) and HERE in str(caught.value)


def test_user_registration(interpreted, monkeypatch):
    monkeypatch.setitem(registry.HANDLERS, "linalg_det", registry.HANDLERS["linalg_det"])  # the own one comes back afterwards

    @register_op("linalg_det")
    def determinant(a):
        return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]

    traced = om.trace(torch.linalg.det, torch.eye(2))
    assert interpreted(traced, [np.array([[1, 2], [3, 4]], np.float32)])[0] == -2


def test_custom_operator(interpreted):
    library = torch.library.Library("onemlir_test", "DEF")
    library.define("triple(Tensor x) -> Tensor")
    library.impl("triple", lambda x: x * 3, "CompositeExplicitAutograd")

    @register_op("onemlir_test.triple")
    def triple(x):
        return x * 3

    traced = om.trace(lambda x: torch.ops.onemlir_test.triple(x), torch.ones(2))
    assert interpreted(traced, [np.ones(2, np.float32)])[0].tolist() == [3, 3]


def test_symbolic_sizes_compute(interpreted):
    def program(x):
        batch, time = x.shape
        positions = torch.arange(time)
        return (x + positions).reshape(batch * time), torch.zeros(batch, 2 * time), x.sum() / x.numel(), x.new_ones(time).cumsum(0), x.mean(0) * (time - 1)

    traced = om.trace(program, torch.ones(2, 3), axes=("batch", "time"))
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    for ours, theirs in zip(interpreted(traced, [x]), program(torch.from_numpy(x))):
        np.testing.assert_allclose(ours, theirs.numpy())


def test_decision_on_a_symbolic_size_is_refused():
    with pytest.raises(om.TraceError, match="symbolic size batch"):
        om.trace(lambda x: x * 2 if x.shape[0] > 1 else x, torch.ones(2, 3), axes=("batch", None))


def test_bound_method_and_keyword_inputs(interpreted):
    class Scaled(torch.nn.Module):
        def forward(self, x, *, scale=None, times=1):
            return x * times if scale is None else x * scale * times

        def twice(self, x):
            return self(x) * 2

    traced = om.trace(Scaled(), torch.ones(2), kwargs={"scale": torch.ones(2)}, times=3)
    assert traced.input_names == ["x", "scale"]
    assert interpreted(om.trace(Scaled().twice, torch.ones(2)), [np.ones(2, np.float32)])[0].tolist() == [2, 2]


def test_data_dependent_shape(agrees):
    agrees(lambda x: x[x > 0] * 2, (torch.tensor([1.0, -1.0, 2.0]),), None, [(torch.tensor([1.0, 1.0, 2.0]),)])


def test_no_warning_for_a_plain_model():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        om.trace(torch.nn.Linear(2, 2), torch.ones(1, 2))


def test_numbers_that_follow_from_sizes(agrees):
    def program(x):
        batch = x.shape[0]
        return x / batch ** 0.5, x * (batch / 2), x * (batch / 4.0), x * batch * 3.0, x.new_zeros(batch ** 2)

    agrees(program, (torch.ones(2, 3),), ("batch", None), [(torch.ones(5, 3),)])


def test_parametrizations(agrees):
    torch.manual_seed(0)
    agrees(torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 3)), (torch.randn(2, 3),), ("batch", None), [(torch.randn(4, 3),)])


def test_kept_tensor_is_refused():
    class Keeps(torch.nn.Module):
        def forward(self, x):
            self.last = x * 2
            return self.last

    model = Keeps()
    with pytest.raises(om.TraceError, match="'last'"):
        om.trace(model, torch.ones(2))
    assert not hasattr(model, "last")


SAME_AS_TORCH = {
    "dtypes by Python's types": lambda x: (x.to(int), torch.zeros(2, dtype=float) + x.sum(dtype=float), torch.ones(3, dtype=bool), x.to(dtype=float)),
    "view(dtype)": lambda x: x.view(torch.int32) + 1,
    "write through as_strided": lambda x: _strided(x.clone()),
    "quantile": lambda x: (torch.quantile(x, torch.tensor([0.0, 0.3, 1.0]), dim=1), torch.quantile(x, 0.5, interpolation="nearest")),
    "unique_consecutive": lambda x: torch.unique_consecutive((x > 0).long(), return_inverse=True, return_counts=True),
    "adaptive_max_pool2d with indices": lambda x: torch.nn.functional.adaptive_max_pool2d(x.reshape(1, 2, 3), (2, 2), return_indices=True),
    "composed in C++": lambda x: (torch.combinations(x[0]), torch.cartesian_prod(x[0], x[1])),
    "booleans": lambda x: ((x > 0) * (x < 1), (x > 0) + (x < 1), (x > 0).max(1), torch.maximum(x > 0, x < 1)),
    "rank 0": lambda x: (x[0, 0].max(0), x[0, 0].softmax(0), x[0, 0].sort(), x[0, 0].cumsum(0)),
    "windows longer than the image": lambda x: (torch.nn.functional.max_pool2d(x[None], 4, 3, 1, ceil_mode=True, return_indices=True),
                                                torch.nn.functional.avg_pool1d(x, 4, 2, ceil_mode=True)),
    "fake quantization": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7),
    "deepcopy": lambda x: __import__("copy").deepcopy(x * 2).add_(1) + x,
}


def _strided(x):
    x.as_strided((2, 2), (1, 3), 1).mul_(10)
    return x


@pytest.mark.parametrize("name", SAME_AS_TORCH)
def test_same_as_torch(name, agrees):
    torch.manual_seed(0)
    agrees(SAME_AS_TORCH[name], (torch.randn(2, 3),), None, [(torch.randn(2, 3),)])


def test_sizes_times_floats(agrees):
    agrees(lambda x: (x * (x.shape[0] * 0.5), x + 2.5 * x.shape[0], x * (x.shape[0] * 0.5 + 1)), (torch.ones(2, 3),), ("batch", None), [(torch.ones(5, 3),)])


def _autocast(module, x):
    with torch.autocast("cpu"):
        return module(x)


REFUSED = {
    "a transform of gradients": lambda x: torch.func.grad(lambda y: y.sum())(x),
    "a recurrent network under autocast": lambda x: _autocast(torch.nn.GRU(3, 2), x),
    "gradients": lambda x: torch.autograd.grad(x.sum(), x),
    "complex numbers": lambda x: torch.complex(x, x),
    "sparse": lambda x: x.to_sparse(),
    "quantized": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize(),
    "a wrong index": lambda x: x[5],
    "eigenvalues": lambda x: torch.linalg.eigvals(x[:, :2]),
    "nested tensors": lambda x: torch.nested.nested_tensor([x, x]),
    "int of a size times a float": lambda x: x[:int(x.shape[0] * 0.5)],
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_refused_with_the_line(name):
    with pytest.raises(om.OnemlirError, match=f"{HERE}:"):
        om.trace(REFUSED[name], torch.ones(2, 3), axes=("batch", None) if "size" in name else None)


def test_weights_recomputed_by_hooks(agrees):
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = torch.nn.utils.weight_norm(torch.nn.Linear(3, 2))
    model.register_forward_hook(lambda module, inputs, output: output * 2)
    agrees(model, (torch.randn(2, 3),))


def test_control_flow_stays_in_the_graph(agrees):
    from torch._higher_order_ops.while_loop import while_loop

    linear = torch.nn.Linear(3, 3)

    def program(x):
        y = torch.cond(x.sum() > 0, lambda t: linear(t), lambda t: t * 3, (x,))
        return while_loop(lambda i, z: z.abs().sum() < 100, lambda i, z: (i + 1, z * 2 + x), (torch.tensor(0), y))

    def plain(x):
        y = linear(x) if x.sum() > 0 else x * 3
        i = torch.tensor(0)
        while y.abs().sum() < 100:
            i, y = i + 1, y * 2 + x
        return i, y

    traced = om.trace(program, torch.ones(2, 3), axes=("batch", None))
    for x in (torch.ones(2, 3), -torch.ones(4, 3)):
        for ours, theirs in zip(traced(x), plain(x)):
            torch.testing.assert_close(ours, theirs.detach(), rtol=1e-4, atol=1e-5)


def test_weights_cached_in_a_dictionary(agrees):
    class Cached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
            self.cache = {}

        def forward(self, x):
            if "cpu" not in self.cache:
                self.cache["cpu"] = self.table[:, [2, 0, 1]]
            return x + self.cache["cpu"]

    model = Cached()
    traced = om.trace(model, torch.ones(2, 3))
    assert model.cache == {}
    torch.testing.assert_close(traced(torch.ones(2, 3)), model(torch.ones(2, 3)).detach())


@pytest.mark.parametrize("condition, hint", [
    (lambda n: n == 1, "om.Axis('batch', min=2)"), (lambda n: n > 1, "om.Axis('batch', min=2)"), (lambda n: n <= 32, "om.Axis('batch', max=32)"),
    (lambda n: torch.zeros(16)[:n] + torch.zeros(n) is not None, "om.Axis('batch', max=16)"),
])  # fmt: skip
def test_a_decision_on_a_size_names_the_range_that_decides_it(condition, hint):
    program = lambda x: x * 2 if condition(x.shape[0]) else x
    with pytest.raises(om.TraceError) as caught:
        om.trace(program, torch.ones(2, 3), axes=("batch", None))
    assert hint in str(caught.value)
    om.trace(program, torch.ones(2, 3), axes=(eval(hint, {"om": om}), None))


def test_keywords_of_torch(agrees):
    agrees(lambda x: (torch.baddbmm(x[None, :, :1], batch1=x[None], batch2=x.t()[None], beta=0.5), torch.addmv(input=x[:, 0], mat=x, vec=x[0])), (torch.randn(2, 3),))
