"""TorchScript, ExportedPrograms and torch.compile graphs."""
import pathlib
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import onemlir as om  # noqa: E402

HERE = pathlib.Path(__file__).name
BATCH = ("batch", None, None)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = torch.nn.LSTM(3, 4, batch_first=True)
        self.attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x):
        y, _ = self.recurrent(x)
        z, _ = self.attention(y, y, y)
        return self.norm(torch.nn.functional.gelu(y + z)).flatten(1)


def scripted_power(x, n: int = 3):
    y = x
    for i in range(n):
        y = y * x + i
    if n > 2:
        y = torch.relu(y)
    else:
        y = -y
    return y.view(x.size(0), -1)


def test_scripted_module(agrees):
    torch.manual_seed(0)
    traced = agrees(torch.jit.script(Network().eval()), (torch.randn(2, 5, 3),))
    assert "attention.in_proj_weight" in traced.parameters


def test_traced_module(agrees):
    torch.manual_seed(0)
    example = torch.randn(2, 5, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.trace(Network().eval(), example, check_trace=False)
    traced = agrees(script, (example,))
    assert HERE in traced.mlir(locations=True)


def test_scripted_function(agrees):
    function = torch.jit.script(scripted_power)
    traced = agrees(function, (torch.randn(2, 3, 2),), BATCH, [(torch.randn(4, 3, 2),)])
    assert f'{HERE}":{scripted_power.__code__.co_firstlineno + 3}' in traced.mlir(locations=True)


class Gate(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        else:
            return -x


class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.linear = torch.jit.script(Gate()), torch.nn.Linear(2, 2)

    def forward(self, x, h):
        return torch.tanh(self.gate(self.linear(x)) + h)


class Loop(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.jit.trace(Cell(), (torch.ones(3, 2), torch.ones(3, 2)), check_trace=False)

    def forward(self, xs):
        h = torch.zeros(3, 2)
        for i in range(xs.size(0)):
            h = self.cell(xs[i], h)
        return h


def test_scripts_inside_modules_keep_their_branches(tmp_path):
    """What the tutorial of TorchScript makes: scripted in traced in scripted modules, with a branch on data."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.jit.script(Loop()), torch.nn.ReLU())
    xs = torch.randn(2, 3, 2)
    traced = om.trace(model, xs)
    traced.save(tmp_path / "wrapped.pt")
    loaded = om.load(tmp_path / "wrapped.pt")
    assert "scf.if" in loaded.code and sum(p.numel() for p in loaded.parameters()) == 6 and HERE in loaded.graph
    for x in (xs, -xs):
        torch.testing.assert_close(loaded.eval().forward(x), model(x).detach(), rtol=1e-4, atol=1e-5)


def test_scripts_that_cannot_be_recorded(tmp_path):
    @torch.jit.script
    def in_place(x):
        if bool(x.sum() > 0):
            x.add_(1)
            y = x
        else:
            y = -x
        return y

    with pytest.raises(om.TraceError, match=f"(?s)in place in a branch.*{HERE}"):
        om.trace(lambda x: in_place(x * 1), torch.ones(2))
    torch.jit.save(in_place, str(tmp_path / "script.pt"))
    with pytest.raises(om.FormatError, match="torch.jit.load"):
        om.load(tmp_path / "script.pt")


def test_exported_program(agrees):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.LayerNorm(4)).eval()
    batch = torch.export.Dim("batch", min=2)
    program = torch.export.export(model, (torch.randn(2, 3),), dynamic_shapes=({0: batch},))
    traced = agrees(program.module(), (torch.randn(2, 3),), (om.Axis("batch", min=2), None), [(torch.randn(5, 3),)])
    direct = om.trace(program, torch.randn(2, 3), axes=(om.Axis("batch", min=2), None))
    assert direct.mlir() == traced.mlir() and HERE in direct.mlir(locations=True)


def test_compile_backend():
    torch.manual_seed(0)
    model = Network().eval()
    compiled = torch.compile(model, backend=om.compile_backend, dynamic=False)
    x = torch.randn(2, 5, 3)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)
        model.norm.weight.mul_(2)
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)


def test_compile_backend_falls_back_with_a_message():
    compiled = torch.compile(lambda x: torch.special.bessel_j0(x), backend=om.compile_backend)
    with torch.no_grad(), pytest.warns(UserWarning, match="leaves this graph to torch"):
        torch.testing.assert_close(compiled(torch.zeros(4)), torch.ones(4))
    model = torch.nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="gradients"):
        torch.compile(model, backend=om.compile_backend)(torch.ones(1, 2)).sum().backward()
    assert model.weight.grad is not None


def counted_sessions(monkeypatch) -> list:
    from onemlir.frontend.torch.backend import CompiledGraph

    made, before = [], CompiledGraph.recorded
    monkeypatch.setattr(CompiledGraph, "recorded", lambda self, *rest: made.append(1) or before(self, *rest))
    return made


@pytest.mark.parametrize("mark", [False, True])
def test_compile_backend_with_dynamic_sizes_makes_one_session(mark, monkeypatch):
    made = counted_sessions(monkeypatch)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).eval()

    def program(x):
        return model(x).reshape(x.shape[0] * 2, 2) * x.shape[0], x.shape[0] + 1

    torch._dynamo.reset()
    compiled = torch.compile(program, backend=om.compile_backend, dynamic=None if mark else True)
    for size in (5, 7, 2):
        x = torch.randn(size, 3)
        if mark:
            torch._dynamo.mark_dynamic(x, 0)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            ours, count = compiled(x)
            torch.testing.assert_close(ours, program(x)[0], rtol=1e-4, atol=1e-5)
        assert count == size + 1
    assert len(made) == 1


def test_compile_backend_changes_inputs_in_place():
    def program(cache, row):
        cache[1] = row.sum()
        row.mul_(2)
        return cache, cache.sum()

    torch._dynamo.reset()
    compiled = torch.compile(program, backend=om.compile_backend, dynamic=False)

    def arguments(overlapping):
        memory = torch.arange(9.0)
        return (memory[:6].view(3, 2), memory[3:5]) if overlapping else (torch.ones(3, 2), torch.full((2,), 5.0))

    with torch.no_grad():
        for overlapping in (False, True, False):
            ours, theirs = arguments(overlapping), arguments(overlapping)
            torch.testing.assert_close([*compiled(*ours), *ours], [*program(*theirs), *theirs])


def test_compile_backend_with_a_graph_break():
    def program(x):
        y = x * x.shape[0]
        torch._dynamo.graph_break()
        return y + y.shape[0]

    torch._dynamo.reset()
    compiled = torch.compile(program, backend=om.compile_backend, dynamic=True)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for size in (3, 4):
            torch.testing.assert_close(compiled(torch.ones(size)), program(torch.ones(size)))


@pytest.mark.parametrize("name", ["example_inputs", "check_trace", "check_inputs", "check_tolerance", "strict", "example_kwarg_inputs"])
def test_arguments_of_jit_trace_get_a_hint(name):
    with pytest.raises(om.TraceError, match=f"(?s)'{name}'.*{HERE}"):
        om.trace(torch.nn.Linear(2, 2), torch.ones(1, 2), **{name: None})


def test_what_readers_of_traced_modules_expect():
    traced = om.trace(torch.nn.Bilinear(2, 2, 1), [torch.ones(1, 2), torch.zeros(1, 2)])
    assert traced.eval() is traced.to("cpu") is traced.train(False) and [n for n, _ in traced.named_parameters()] == ["weight", "bias"]
    for wrong in (traced.train, lambda: traced.to("cuda")):
        with pytest.raises(om.OnemlirError, match="record it"):
            wrong()
    for name, advice in {"cuda": "record it", "children": "no submodules", "graph_for": "no torch.nn.Module", "buffers": "state_dict"}.items():
        with pytest.raises(AttributeError, match=advice):
            getattr(traced, name)
    with pytest.raises(om.OnemlirError, match=r"traced.save\(path\)"):
        torch.jit.save(traced, "model.pt")
    with pytest.raises(AttributeError, match="trace_module.*each method"):
        om.trace_module(torch.nn.Linear(2, 2), {"forward": torch.ones(1, 2)})
    with pytest.raises(om.TraceError, match=f"(?s)inside a recording.*{HERE}"):
        om.trace(lambda x, y: traced(x, y) + 1, torch.ones(1, 2), torch.zeros(1, 2))


def test_sign_of_nan_is_zero():
    x = torch.tensor([float("nan"), 2.0, -0.5, 0.0])
    np.testing.assert_array_equal(om.trace(lambda x: torch.sign(x), x).session()(x.numpy()), torch.sign(x).numpy())
