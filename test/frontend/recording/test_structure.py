"""What may be given to and returned by a recorded program, recordings side by side, and sessions without surprises."""
import dataclasses
import threading
from typing import NamedTuple

import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@dataclasses.dataclass
class Pair:
    left: object
    right: object = None


class Point(NamedTuple):
    x: object
    y: object


def test_containers_of_inputs_and_outputs(interpret):
    def function(pair, items, *, extra, factor, name=None):
        first, (second, third) = items
        assert pair.right is None and name == "n" and isinstance(factor, int)
        return {"sum": pair.left + first, "rest": [second * factor, (third, None, 7, extra["k"])], "point": Point(pair.left, first)}

    examples = Pair(om.tensor(X)), [om.tensor(X), (om.tensor(X), om.tensor(X))]
    traced = om.trace(function, *examples, kwargs={"extra": {"k": om.tensor(X)}}, factor=3, name="n")
    assert traced.input_names == ["pair.left", "items.0", "items.1.0", "items.1.1", "extra.k"]
    assert traced.output_names == ["sum", "rest.0", "rest.1.0", "rest.1.3", "point.x", "point.y"]
    arrays = [X + i for i in range(5)]
    result = traced.session()(*arrays)
    np.testing.assert_array_equal(result["sum"], arrays[0] + arrays[1])
    np.testing.assert_array_equal(result["rest"][0], arrays[2] * 3)
    assert result["rest"][1][1] is None and result["rest"][1][2] == 7
    np.testing.assert_array_equal(result["point"]["y"], arrays[1])
    assert {a["name"] for a in traced.assumptions if a["kind"] == "static argument"} == {"factor", "name"}


def test_positional_constants_are_assumptions(interpret):
    traced = om.trace(lambda x, power, label: x**power, om.tensor(X), 2, "squares")
    assert traced.input_names == ["x"]
    np.testing.assert_array_equal(interpret(traced, X)[0], X**2)
    assert {a["text"] for a in traced.assumptions if a["kind"] == "static argument"} == {"power = 2", "label = 'squares'"}


def test_tensors_among_other_keywords_are_constants_with_a_warning(interpret):
    with pytest.warns(om.FrozenValueWarning, match="'y' is a tensor, and is taken as constant: kwargs="):
        traced = om.trace(lambda x, y: x + y, om.tensor(X), y=om.tensor(X))
    assert len(traced.inputs) == 1


def test_outputs_that_are_inputs_and_each_other(everywhere):
    def function(x, unused, y):
        z = x + y
        return x, z, z, y, om.tensor([1.0, 2.0])

    traced = om.trace(function, *map(om.tensor, (X, X, X)))
    everywhere(traced, ((X, X * 0, X + 1), [X, 2 * X + 1, 2 * X + 1, X + 1, np.array([1, 2], np.float32)]))
    session = traced.session()
    x = X.copy()
    outputs = session(x, x, x)  # one array for all inputs
    outputs[0][...] = -1
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(outputs[3], X)
    assert not np.shares_memory(outputs[1], outputs[2])


def test_an_output_keeps_its_values():
    session = om.trace(lambda x: x * 2, om.tensor(X), axes=("n", None)).session()
    first = session(X)
    kept = first.copy()
    session(X + 100), session(np.zeros((9, 3), np.float32))
    np.testing.assert_array_equal(first, kept)


def test_any_array_is_an_input():
    session = om.trace(lambda x, y: x + y, om.tensor(X), om.tensor(X), axes=[("n", "m")] * 2).session()
    wide = np.arange(24, dtype=np.float32).reshape(4, 6)
    frozen = X.copy()
    frozen.flags.writeable = False
    for a, b in [(wide[::2, ::2], wide[1::2, 1::2]), (X.T, X.T[::-1]), (frozen, frozen), (X[:0], X[:0]), (wide[:, :0], wide[:, :0]),
                 (np.broadcast_to(np.float32(3), (2, 3)), X), (X.astype(">f4").astype("=f4"), X)]:
        np.testing.assert_array_equal(session(a, b), a + b)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = self.first
        self.third = nn.Linear(3, 3)
        self.third.weight = self.first.weight

    def forward(self, x):
        return self.third(self.second(self.first(x)))


def test_shared_weights_and_modules_called_several_times(interpret):
    model = Shared()
    traced = model.trace(om.tensor(X))
    assert sorted(traced.parameters) == ["first.bias", "first.weight", "third.bias"]
    np.testing.assert_allclose(interpret(traced, X)[0], model(om.tensor(X)).numpy(), rtol=1e-5)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(np.arange(9, dtype=np.float32).reshape(3, 3))
        self.scale = nn.Parameter(np.float32(2))

    def forward(self, x):
        weight = ops.transpose(self.weight * 2) / self.scale
        return x @ weight if self.scale * 3 > 1 else x


def test_what_follows_from_weights_alone_is_read_and_keeps_their_names(interpret):
    model = Scaled()
    traced = model.trace(om.tensor(X))
    assert sorted(traced.parameters) == ["scale", "weight"]
    np.testing.assert_allclose(interpret(traced, X)[0], model(om.tensor(X)).numpy(), rtol=1e-6)
    assert any(a["kind"] == "weights" and "scale" in a["text"] and "test_structure.py" in a["line"] for a in traced.assumptions)
    with om.no_grad():
        model.scale[...] = 0.1
    with pytest.raises(om.OnemlirError, match="scale"):
        traced.session()


def test_closures_and_methods(interpret):
    layer = nn.Linear(3, 2)
    traced = om.trace(lambda x: layer(x) + layer(x * 2), om.tensor(X))
    assert sorted(traced.parameters) == ["bias", "weight"]
    np.testing.assert_allclose(interpret(traced, X)[0], (layer(om.tensor(X)) + layer(om.tensor(2 * X))).numpy(), rtol=1e-5)
    other = om.trace(Shared().forward, om.tensor(X))
    assert "first.weight" in other.parameters


def test_a_recording_inside_a_recording():
    with pytest.raises(om.TraceError, match="under way"):
        om.trace(lambda x: om.trace(lambda y: y * 2, om.tensor(X)) and x, om.tensor(X))
    om.trace(lambda x: x, om.tensor(X))  # and the thread is free again


def test_an_error_of_the_program_ends_the_recording():
    with pytest.raises(ZeroDivisionError):
        om.trace(lambda x: 1 / 0, om.tensor(X))
    assert (om.tensor(X) * 2).tolist()[0][1] == 2


def test_recordings_in_several_threads(interpret):
    found = {}

    def work(number):
        def function(x):
            for _ in range(number):
                x = ops.cond(x.sum() > 0, lambda x: x + number, lambda x: x - 1, x)
            return x
        found[number] = om.trace(function, om.tensor(X), axes=("n", None))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
    [t.start() for t in threads], [t.join() for t in threads]
    for number, traced in found.items():
        np.testing.assert_array_equal(interpret(traced, X)[0], X + number * number)


def test_what_cannot_be_returned():
    with pytest.raises(om.TraceError, match="set"):
        om.trace(lambda x: {x}, om.tensor(X))
    with pytest.raises(om.TraceError, match="object at '1'"):
        om.trace(lambda x: (x, object()), om.tensor(X))


def test_errors_name_operation_line_text_module_and_shapes():
    class Inner(nn.Module):
        def forward(self, x):
            return x @ x

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x)

    with pytest.raises(om.ShapeError) as error:
        Model().trace(om.tensor(X))
    text = str(error.value)
    assert all(word in text for word in ("matmul", "(2, 3)", "'inner'", "test_structure.py", "return x @ x"))


def test_a_weight_changed_after_recording_is_noticed():
    model = nn.Linear(3, 3)
    traced = model.trace(om.tensor(X))
    with om.no_grad():
        model.weight[0] = 5.0
    with pytest.raises(om.OnemlirError, match="weight"):
        traced.session()


def test_sizes_that_depend_on_data_are_called_alike_everywhere(tmp_path):
    traced = om.trace(lambda x: (ops.nonzero(x)[0], ops.unique(x)), om.tensor(X))
    names = [output.shape for output in traced.outputs]
    for number in range(3):
        traced.save(tmp_path / f"{number}.onemodel")
        traced = om.load(tmp_path / f"{number}.onemodel")
        assert [output.shape for output in traced.outputs] == names == [("?nonzero0",), ("?unique1",)]
    assert (tmp_path / "0.onemodel").read_bytes() == (tmp_path / "2.onemodel").read_bytes()


def test_dicts_keep_their_keys_and_order_in_files(tmp_path):
    traced = om.trace(lambda x: {8: x + 8.0, 16: {"z": x + 1.0, "a": x}, "last": x}, om.tensor(X))
    traced.save(tmp_path / "model.onemodel")
    found = om.Session(tmp_path / "model.onemodel")(X)
    assert list(found) == [8, 16, "last"] and list(found[16]) == ["z", "a"]
    np.testing.assert_array_equal(found[8], X + 8)
    np.testing.assert_array_equal(found[16]["z"], X + 1)
