"""Module: what belongs to it, its modes, state, hooks, dtypes and printed form."""
import copy

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from onemlir.errors import FormatError, OnemlirError, ShapeError
from onemlir.frontend import nn, ops
from onemlir.frontend.tensor import Tensor, tensor


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.scale = nn.Parameter(np.ones(4, np.float32))
        self.register_buffer("offset", tensor(np.zeros(4, np.float32)))
        self.register_buffer("cache", tensor([1.0]), persistent=False)

    def forward(self, x):
        return self.first(x) * self.scale + self.offset


def net():
    return nn.Sequential(Block(), nn.ReLU(), nn.Linear(4, 2, bias=False))


def test_names_in_order():
    model = net()
    assert [n for n, _ in model.named_parameters()] == ["0.scale", "0.first.weight", "0.first.bias", "2.weight"]
    assert [n for n, _ in model.named_buffers()] == ["0.offset", "0.cache"]
    assert [n for n, _ in model.named_modules()] == ["", "0", "0.first", "1", "2"]
    assert [n for n, _ in model[0].named_parameters(prefix="p", recurse=False)] == ["p.scale"]
    assert list(model.state_dict(prefix="m.")) == ["m.0.scale", "m.0.offset", "m.0.first.weight", "m.0.first.bias", "m.2.weight"]
    assert model.num_parameters() == 4 + 12 + 4 + 8
    model[2].weight.requires_grad = False
    assert model.num_parameters(trainable=True) == 20


def test_lookup_by_path():
    model = net()
    assert model.get_submodule("0.first") is model[0].first and model.get_submodule("") is model
    assert model.get_parameter("0.scale") is model[0].scale and model.get_buffer("0.offset") is model[0].offset
    for find in (lambda: model.get_submodule("0.second"), lambda: model.get_parameter("0.offset"), lambda: model.missing):
        with pytest.raises(AttributeError):
            find()


def test_assignment_keeps_kinds():
    block = Block()
    block.offset = tensor(np.ones(4, np.float32))
    assert dict(block.named_buffers())["offset"] is block.offset, "a tensor assigned to a buffer's name stays a buffer"
    block.scale = None
    assert "scale" in block._parameters and [n for n, _ in block.named_parameters()] == ["first.weight", "first.bias"]
    block.scale = nn.Parameter(np.ones(4, np.float32))
    with pytest.raises(OnemlirError, match="scale.*Parameter"):
        block.scale = tensor([1.0])
    block.first = nn.Linear(3, 4, bias=False)
    assert block.num_parameters() == 16
    del block.scale
    assert not hasattr(block, "scale")
    assert "first" in dir(block) and "offset" in dir(block)


@pytest.mark.parametrize("name, value, word", [("a.b", nn.Linear(1, 1), "dots"), ("", nn.Linear(1, 1), "text"),
("forward", nn.Linear(1, 1), "forward"),
                                               ("x", 3, "int")])
def test_names_that_are_refused(name, value, word):
    with pytest.raises(OnemlirError, match=word):
        nn.Module().add_module(name, value)


def test_init_must_come_first():
    class Wrong(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(OnemlirError, match="super"):
        Wrong()


def test_shared_modules():
    shared = nn.Linear(2, 2)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    assert [n for n, _ in model.named_parameters()] == ["0.weight", "0.bias"]
    assert [n for n, _ in model.named_parameters(remove_duplicate=False)] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert list(model.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"], "as torch names them"
    twin = copy.deepcopy(model)
    assert twin[0] is twin[2] and twin[0] is not shared and twin[0].weight is not shared.weight
    np.testing.assert_array_equal(twin[0].weight.numpy(), shared.weight.numpy())


def test_modes():
    model = net()
    assert model.training and model.eval() is model
    assert not any(m.training for m in model.modules())
    model[0].train()
    assert model[0].first.training and not model[2].training
    model.requires_grad_(False)
    assert not any(p.requires_grad for p in model.parameters())
    model[2].weight.grad = tensor([1.0])
    model.zero_grad()
    assert model[2].weight.grad is None
    seen = []
    assert model.apply(lambda m: seen.append(type(m).__name__)) is model
    assert seen == ["Linear", "Block", "ReLU", "Linear", "Sequential"]


def test_dtypes():
    model = nn.BatchNorm1d(3)
    weight = model.weight
    for method, dtype in (("half", "float16"), ("double", "float64"), ("bfloat16", "bfloat16"), ("float", "float32")):
        assert getattr(model, method)() is model
        assert str(model.weight.dtype) == str(model.running_mean.dtype) == dtype and model.weight is weight
        assert model.num_batches_tracked.dtype == np.int64
    with pytest.raises(OnemlirError, match="int32"):
        model.to("int32")


def test_state_round_trip():
    source, target = net(), net()
    assert target.load_state_dict(source.state_dict()) == ([], [])
    x = tensor(np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32))
    np.testing.assert_array_equal(target(x).numpy(), source(x).numpy())
    state = source.state_dict()
    state["2.weight"][...] = 7
    assert not (source[2].weight.numpy() == 7).any(), "state_dict gives copies"
    with_prefix = {f"model.{k}": v for k, v in state.items()} | {"other": np.zeros(1)}
    assert target.load_state_dict(with_prefix, prefix="model.") == ([], [])
    assert (target[2].weight.numpy() == 7).all()


def test_state_that_does_not_fit():
    model = net()
    before = model.state_dict()
    bad = model.state_dict() | {"extra": np.zeros(1, np.float32)}
    del bad["0.scale"]
    bad["2.weight"] = np.zeros((5, 5), np.float32)
    bad["0.first.bias"] = np.full(4, 9, np.float32)
    with pytest.raises(OnemlirError, match=r"'0.scale' is missing.*'extra' is not in.*'2.weight' has shape \(5, 5\), expected \(2, 4\)"):
        model.load_state_dict(bad)
    with pytest.raises(ShapeError, match="2.weight"):
        model.load_state_dict(bad, strict=False)
    for name, array in model.state_dict().items():
        np.testing.assert_array_equal(array, before[name], err_msg="nothing is changed by a refused load")
    del bad["2.weight"]
    keys = model.load_state_dict(bad, strict=False)
    assert keys.missing_keys == ["0.scale", "2.weight"] and keys.unexpected_keys == ["extra"]
    assert (model[0].first.bias.numpy() == 9).all()


def test_state_from_torch_tensors():
    torch = pytest.importorskip("torch")
    peer = torch.nn.Linear(3, 2).to(torch.bfloat16)
    model = nn.Linear(3, 2)
    model.load_state_dict(peer.state_dict())
    np.testing.assert_array_equal(model.weight.numpy(), peer.weight.detach().float().numpy())
    model.load_state_dict(dict(peer.named_parameters()))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_safetensors_file(tmp_path, dtype):
    model, other = net().to(dtype), net().to(dtype)
    path = tmp_path / "net.safetensors"
    model.save_safetensors(path)
    assert [p.name for p in tmp_path.iterdir()] == ["net.safetensors"], "no temporary file stays"
    found = safetensors.numpy.load_file(path)
    assert set(found) == set(model.state_dict())
    assert found["0.scale"].dtype == (ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    other.load_safetensors(path)
    for name, array in model.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], array)


def test_damaged_safetensors_file(tmp_path):
    path = tmp_path / "net.safetensors"
    net().save_safetensors(path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(FormatError, match="net.safetensors"):
        net().load_safetensors(path)
    with pytest.raises(OSError):
        net().load_safetensors(tmp_path / "missing.safetensors")


def test_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "net.safetensors"
    path.write_bytes(b"old")

    def fail(arrays, target, **_):
        with open(target, "wb") as file:
            file.write(b"half")
        raise RuntimeError("disk full")

    monkeypatch.setattr(safetensors.numpy, "save_file", fail)
    with pytest.raises(RuntimeError):
        net().save_safetensors(path)
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def test_hooks():
    model = nn.Linear(2, 2)
    x = tensor([[1.0, 2.0]])
    plain = model(x).numpy()
    before = model.register_forward_pre_hook(lambda m, args: args[0] * 2)
    np.testing.assert_array_equal(model(x).numpy(), nn.Linear.forward(model, x * 2).numpy())
    seen = []
    with model.register_forward_hook(lambda m, args, output: seen.append(args[0].tolist())):
        model(x)
    model(x)
    assert seen == [[[2.0, 4.0]]]
    before.remove()
    with model.register_forward_hook(lambda m, args, output: output * 0):
        assert not model(x).numpy().any()
    np.testing.assert_array_equal(model(x).numpy(), plain)


def test_repr():
    assert repr(net()) == (
        "Sequential(\n  (0): Block(\n    (first): Linear(in_features=3, out_features=4, bias=True)\n  )\n  (1): ReLU()\n"
        "  (2): Linear(in_features=4, out_features=2, bias=False)\n)")
    assert repr(nn.Conv2d(3, 8, 3, padding=1)) == "Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))"
    assert repr(nn.Parameter([1.0])).startswith("Parameter(tensor([1.]")


def test_sequential():
    layers = [nn.Linear(2, 2) for _ in range(4)]
    model = nn.Sequential(*layers)
    assert len(model) == 4 and model[-1] is layers[3] and list(model) == layers and layers[1] in model
    assert list(model[1:3]._modules) == ["1", "2"] and model[1:3][0] is layers[1]
    assert list(model[1:3].append(nn.ReLU())._modules) == ["1", "2", "3"]
    del model[1]
    assert list(model._modules) == ["0", "1", "2"] and model[1] is layers[2]
    model.insert(0, nn.ReLU()).append(nn.Tanh()).extend([nn.GELU()])
    assert [type(m).__name__ for m in model] == ["ReLU", "Linear", "Linear", "Linear", "Tanh", "GELU"]
    model[0] = nn.Sigmoid()
    assert isinstance(model[0], nn.Sigmoid) and isinstance(model.pop(0), nn.Sigmoid) and len(model) == 5
    named = nn.Sequential({"first": layers[0], "then": nn.ReLU()})
    assert named.first is layers[0] and list(named[:1]._modules) == ["first"]
    with pytest.raises(IndexError, match="5"):
        model[5]
    with pytest.raises(OnemlirError, match="int"):
        nn.Sequential(3)


def test_module_list_and_dict():
    items = nn.ModuleList([nn.Linear(1, 1)]) + [nn.ReLU()]
    assert isinstance(items, nn.ModuleList) and isinstance(items[0:1], nn.ModuleList) and items[1] in items
    assert [n for n, _ in items.named_parameters()] == ["0.weight", "0.bias"]
    table = nn.ModuleDict({"a": nn.Linear(1, 1)})
    table["b"] = nn.ReLU()
    assert list(table) == list(table.keys()) == ["a", "b"] and "a" in table and len(table) == 2 and "a.weight" in dict(table.named_parameters())
    assert isinstance(table.pop("b"), nn.ReLU)
    del table["a"]
    assert not list(table.items())


def test_parameter_containers():
    params = nn.ParameterList([tensor([1.0]), nn.Parameter([2.0])])
    params.append(np.array([3.0], np.float32))
    params[0] = tensor([5.0])
    assert len(params) == 3 and all(isinstance(p, nn.Parameter) for p in params) and params[-1].item() == 3 and params[0].item() == 5
    assert [n for n, _ in params.named_parameters()] == ["0", "1", "2"]
    table = nn.ParameterDict({"a": tensor([1.0])})
    assert isinstance(table["a"], nn.Parameter) and "a" in table and list(table.items())[0][0] == "a"
    assert "float32(1,)" in repr(params) and "a: float32(1,)" in repr(table)


def test_forward_missing():
    with pytest.raises(NotImplementedError, match="Module"):
        nn.Module()(1)
    assert isinstance(ops.relu(Tensor([1.0])), Tensor)
