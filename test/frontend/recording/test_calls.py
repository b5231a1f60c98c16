"""Calling sessions, naming axes, inputs and outputs, and what else a first-time user gets wrong."""
import copy
import pickle

import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def session():
    return om.trace(lambda x, y: {"sum": x + y}, om.tensor(X), om.tensor(X)).session()


def test_inputs_by_keyword(session):
    for result in (session(X, y=X), session(y=X, x=X), session.run({"y": X, "x": X})):
        np.testing.assert_array_equal(result["sum"], 2 * X)


CALLS = {
    "run of a list": (lambda s: s.run([X, X]), r"run takes a mapping.*'x': \.\.\., 'y': \.\.\..*found list"),
    "run of an array": (lambda s: s.run(X), "run takes a mapping.*found ndarray"),
    "run of None": (lambda s: s.run(None), "run takes a mapping.*found NoneType"),
    "a mapping by position": (lambda s: s({"x": X, "y": X}), "takes 2 inputs.*run"),
    "a mapping as an input": (lambda s: s(X, {"y": X}), r"input 'y' must be an array of float32\[2, 3\], found dict; .*run"),
    "None": (lambda s: s(X, None), r"input 'y' must be an array of float32\[2, 3\], found NoneType"),
    "text": (lambda s: s(X, "a"), "input 'y' must be an array.*found str"),
    "an unknown keyword": (lambda s: s(X, z=X), "missing: 'y'; unknown: 'z'"),
    "an input twice": (lambda s: s(X, x=X), "'x' is given twice"),
    "too many": (lambda s: s(X, X, X, y=X), "'y' is given twice"),
}


def test_a_symbolic_size_is_named_in_a_refusal():
    session = om.trace(lambda x: x, om.tensor(X), axes=("b", None)).session()
    with pytest.raises(om.DTypeError, match=r"an array of float32\[b, 3\], found NoneType"):
        session(None)


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_says_what_is_right(session, name):
    call, words = CALLS[name]
    with pytest.raises(om.OnemlirError, match=words):
        call(session)


@pytest.mark.parametrize("threads", [-1, 0, 1.5, "2", True])
def test_threads_are_a_positive_int(threads):
    with pytest.raises(om.OnemlirError, match="threads must be a positive int"):
        om.trace(lambda x: x, om.tensor(X)).session(threads=threads)


def test_an_unknown_option_is_named_with_the_known_ones(tmp_path):
    traced = om.trace(lambda x: x, om.tensor(X))
    for call in (lambda: traced.session(thread=2), lambda: om.Session(traced, thread=2)):
        with pytest.raises(TypeError, match="session has no option 'thread'; its options are threads, "):
            call()
    with pytest.raises(TypeError, match="compile has no option"):
        traced.compile(tmp_path / "m.so", thread=2)


@pytest.mark.parametrize("axes", [(0,), (0, 1), 5, "n", ("", None), ("?n", None), ("n", 3.5), om.Axis("n"), {"input": "n"}, [None]])
def test_axes_that_are_none(axes):
    with pytest.raises(om.TraceError, match="axes.*'input'"):
        om.trace(lambda x: x, om.tensor(X), axes=axes)


@pytest.mark.parametrize("arguments", [(0,), ("",), ("n", 1.5), ("n", 0, "a"), ("n", 5, 2)])
def test_an_axis_that_is_none(arguments):
    with pytest.raises(om.OnemlirError):
        om.Axis(*arguments)


def test_keys_that_are_numbers_come_back(tmp_path, interpret):
    traced = om.trace(lambda items: {0: items[1] * 2, 1: {"a": items["b"]}, None: 3}, {1: om.tensor(X), "b": om.tensor(X)})
    assert traced.input_names == ["items.1", "items.b"] and traced.output_names == ["output_0", "output_1.a"]
    traced.save(tmp_path / "m.onemodel")
    library = om.Session(traced.compile(tmp_path / "m.so"))
    for made in (traced.session(), om.Session(tmp_path / "m.onemodel"), library):
        result = made(X, X + 1)
        assert list(result) == [0, 1, None] and list(result[1]) == ["a"] and result[None] == 3
        np.testing.assert_array_equal(result[0], 2 * X)


@pytest.mark.parametrize("function", [lambda x: {0: x, "0": x * 2}, lambda x: {"a.b": x, "a": {"b": x * 2}}])
def test_keys_that_would_give_one_name_to_two_outputs(function):
    with pytest.raises(om.TraceError, match="a.b|differ as text"):
        om.trace(function, om.tensor(X))


def test_a_traced_model_pickles_and_copies():
    model = nn.Linear(3, 2)
    traced = om.trace(lambda x: (model(x), x), om.tensor(X), axes=("n", None))
    expected = model(om.tensor(X)).numpy()
    for again in (pickle.loads(pickle.dumps(traced)), copy.deepcopy(traced)):
        assert str(again) == str(traced) and again.assumptions == traced.assumptions
        np.testing.assert_allclose(again(X)[0], expected, rtol=1e-6, atol=1e-6)
    with om.no_grad():
        model.weight[...] = 0.0
    with pytest.raises(om.OnemlirError, match="weight"):
        pickle.dumps(traced)


def test_saving_into_a_folder_that_does_not_exist(tmp_path):
    traced = om.trace(lambda x: x, om.tensor(X))
    for save, name in ((traced.save, "m.onemodel"), (traced.save_onnx, "m.onnx"), (traced.compile, "m.so")):
        with pytest.raises(FileNotFoundError, match=f"{name}' cannot be written: there is no folder '.*nowhere'"):
            save(tmp_path / "nowhere" / name)
    for save in (traced.save, traced.save_onnx):
        with pytest.raises(OSError, match="'/dev/null' cannot be written: it is no regular file"):
            save("/dev/null")
    assert not list(tmp_path.iterdir())


def test_a_module_in_training_mode_is_recorded_for_inference_and_the_assumptions_say_so():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    texts = lambda: [a["text"] for a in om.trace(model, om.tensor(X)).assumptions if a["kind"] == "mode"]
    assert "Dropout '1' in evaluation mode, although it was in training mode: a recording is for inference" in texts()
    model.eval()
    assert "Dropout '1' in evaluation mode" in texts() and not any("although" in t for t in texts())


def test_padding_that_is_wider_than_a_window():
    x = om.ones((1, 1, 8, 8))
    with pytest.raises(om.OnemlirError, match="smaller than the window"):
        ops.max_pool(x, (2, 2), padding=2)
    with pytest.raises(om.OnemlirError, match="at most half"):  # torch: pad should be at most half of effective kernel size
        ops.avg_pool2d(x, 3, padding=2)
    assert ops.max_pool2d(x, 3, padding=1).shape == (1, 1, 3, 3)


def test_an_error_survives_the_end_of_a_session_that_came_from_the_cache():
    traced = om.trace(lambda x: x - 3, om.tensor(X))
    traced.session()

    def fails():
        for _ in (traced.session(),):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails()


@pytest.mark.parametrize("beside", ["numpy", "torch"])
def test_containers_that_hold_themselves(beside):
    pytest.importorskip(beside)
    tensors, numbers, named = [om.tensor(X)], [1.0], {"a": om.tensor(X)}
    tensors.append(tensors), numbers.append(numbers), named.update(b=named)
    for call, message in ((lambda: om.trace(lambda x: x[0], tensors), "list at 'x.1' holds itself"), (lambda: om.jit(lambda x: x)(named), "dict at"),
                          (lambda: om.trace(lambda x: tensors, om.tensor(X)), "list at '1' holds itself"), (lambda: om.tensor(numbers), "holds itself"),
                          (lambda: om.trace(lambda x: x, om.tensor(X))(numbers), "input 'input' cannot be made")):
        with pytest.raises(om.OnemlirError, match=message):
            call()


def test_masked_arrays_are_refused_where_the_mask_says_something():
    masked, whole = np.ma.masked_array(X, X > 0), np.ma.masked_array(X)
    traced = om.trace(lambda x: x + 1, om.tensor(X))
    for call in (om.tensor, traced, lambda x: om.tensor(X) + x, lambda x: om.tensor([x, x]), lambda x: om.trace(lambda x: x, x),
                 lambda x: list(om.batches(x))):
        call(whole)
        with pytest.raises(om.OnemlirError, match=r"masked array with \d+ of \d+ elements masked.*x.filled\(value\)"):
            call(masked)


def test_a_long_python_loop_warns_once_and_names_its_line(monkeypatch):
    monkeypatch.setattr("onemlir.frontend.recording.UNROLLED", 20)

    def function(x):
        for _ in range(30):
            x = x * 2 + 1
        return x
    with pytest.warns(UserWarning, match=r"test_calls.py:\d+: x = x \* 2 \+ 1\n  20 operations.*ops.scan") as found:
        om.trace(function, om.tensor(X))
    assert len(found) == 1


def test_files_of_the_other_kind(tmp_path):
    for read, name, message in ((om.load, "m.onnx", "from_onnx reads it"), (om.from_onnx, "m.onemodel", "load reads it")):
        with pytest.raises(om.FormatError, match=message):
            read(tmp_path / name)


@pytest.mark.parametrize("function, message", [(3, "a module or a function, found 3 of type int"), (lambda x: None, "returned None, which holds no tensor"),
                                               (lambda x: {"a": "text"}, "holds no tensor")])
def test_what_cannot_be_a_model(function, message):
    with pytest.raises(om.TraceError, match=message):
        om.trace(function, om.tensor(X))


def test_argnums_beyond_the_arguments():
    with pytest.raises(om.OnemlirError, match="argnums names argument 7, but the function is called with 1"):
        om.value_and_grad(lambda x: x.sum(), argnums=7)(om.tensor(X))
