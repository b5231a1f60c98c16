"""Libraries loaded from Python: same numbers and errors as the just-in-time session, without the compiler."""
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

import onemlir as om
from onemlir.runtime import Session

from .models import CPU, gathering, large, mlp, mlp_by_numpy, tiny

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a linker")
X = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)
ROWS = np.random.default_rng(1).standard_normal((6, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    mlp()[1].compile(folder / "net.so", cpu=CPU)
    gathering().compile(folder / "gathering.so", cpu=CPU)
    return folder


def test_numbers(folder):
    model, _ = mlp()
    session = Session(folder / "net.so")
    assert (session.inputs[0].name, session.inputs[0].shape, session.inputs[0].dtype) == ("input", ("batch", 16), np.float32)
    for batch in (0, 1, 5, 33):
        x = np.random.default_rng(batch).standard_normal((batch, 16)).astype(np.float32)
        np.testing.assert_allclose(session(x), mlp_by_numpy(model, x), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(session.run({"input": X})["output"], om.Session(folder / "net.so")(X))


def test_outputs_of_sizes_that_depend_on_data(folder):
    session = Session(folder / "gathering.so")
    i = np.array([1, 5, 2])
    outputs = session.run({"x": ROWS, "i": i})
    taken = ROWS[i]
    assert list(outputs) == ["taken", "where", "twice", "positive"]
    np.testing.assert_array_equal(outputs["taken"], taken)
    np.testing.assert_array_equal(outputs["where"], np.nonzero(taken > 0)[0])
    np.testing.assert_array_equal(outputs["twice"], taken.reshape(-1) * 2)
    np.testing.assert_array_equal(outputs["positive"], taken > 0)
    assert set(session(ROWS, i)) == set(outputs)  # the recorded function returned a dict


@pytest.mark.parametrize(
    "inputs",
    [
        {"x": ROWS, "i": np.array([6])}, {"x": ROWS, "i": np.array([-7, 0])}, {"x": ROWS[:, :2], "i": np.array([0])},
        {"x": ROWS.astype(np.float64), "i": np.array([0])}, {"x": ROWS[0], "i": np.array([0])}, {"x": ROWS}, {"y": ROWS, "i": np.array([0])},
    ],
)  # fmt: skip
def test_errors_are_those_of_the_just_in_time_session(folder, inputs):
    raised = []
    for session in (Session(folder / "gathering.so"), gathering().session()):
        with pytest.raises(om.OnemlirError) as caught:
            session.run(inputs)
        raised.append((type(caught.value), str(caught.value).replace(str(folder), "")))
    assert raised[0] == raised[1]


def test_loads_without_the_compiler(folder):
    program = """
import sys, numpy as np
from onemlir.runtime import Session
Session(sys.argv[1]).run({"input": np.zeros((2, 16), np.float32)})
print(sorted(name for name in sys.modules if name.split(".")[0] in ("mlir", "onnx", "torch", "safetensors", "rich", "typer")))
"""
    result = subprocess.run([sys.executable, "-c", program, folder / "net.so"], check=True, capture_output=True, text=True, cwd=folder)
    assert result.stdout.strip() == "[]"


def test_pickles_as_its_path(folder):
    session = Session(folder / "net.so", threads=1)
    again = pickle.loads(pickle.dumps(session))
    assert again.threads == 1
    np.testing.assert_array_equal(again(X), session(X))


def test_threads(tmp_path):
    model, traced = large()
    traced.compile(tmp_path / "big.so", threads=2, cpu=CPU)
    assert Session(tmp_path / "big.so").threads == 2
    x = np.random.default_rng(0).standard_normal((64, 256)).astype(np.float32)
    expected = mlp_by_numpy(model, x)
    for threads in (1, 2, 4):
        np.testing.assert_allclose(Session(tmp_path / "big.so", threads=threads)(x), expected, rtol=1e-4, atol=1e-4)


def test_same_input_gives_same_bytes(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        mlp()[1].compile(tmp_path / folder / "net.so", cpu=CPU)
        tiny().compile(tmp_path / folder / "net.a", cpu=CPU)
    for name in ("net.so", "net.a", "net.h"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_a_library_that_takes_the_place_of_a_loaded_one(tmp_path):
    file, x = tmp_path / "net.so", np.ones(3, np.float32)
    for factor in (2.0, 3.0, 4.0):
        om.trace(lambda x: x * factor, om.tensor(x)).compile(file, cpu=CPU)
        np.testing.assert_array_equal(Session(file)(x), x * factor)
    np.testing.assert_array_equal(Session(file)(x), x * 4)
    os.utime(file, (0, 0))  # as if it had been written over
    with pytest.raises(om.FormatError, match="was changed in place after this process had loaded it"):
        Session(file)


def test_weights_beside(tmp_path):
    model, traced = mlp()
    traced.compile(tmp_path / "net.so", weights=tmp_path / "net.weights", cpu=CPU)
    np.testing.assert_allclose(Session(tmp_path / "net.so")(X), mlp_by_numpy(model, X), rtol=1e-5, atol=1e-6)
    data = bytearray((tmp_path / "net.weights").read_bytes())
    data[100] ^= 1
    for content in (b"", data):
        (tmp_path / "net.weights").write_bytes(content)
        with pytest.raises(om.FormatError, match="SHA-256 differs"):
            Session(tmp_path / "net.so")
    with pytest.raises(om.FormatError, match="SHA-256 differs"):
        Session(tmp_path / "net.so")
    os.unlink(tmp_path / "net.weights")
    with pytest.raises(om.FormatError, match="is not there"):
        Session(tmp_path / "net.so")


@pytest.mark.parametrize("part", [0.0005, 0.001, 0.3, 0.9, 0.9999])
def test_a_truncated_library_is_refused_before_it_is_mapped(folder, tmp_path, part):
    data = (folder / "net.so").read_bytes()
    (tmp_path / "cut.so").write_bytes(data[:int(len(data) * part)])
    with pytest.raises(om.FormatError, match=r"cut\.so' is truncated: \d+ bytes, its header needs \d+"):
        Session(tmp_path / "cut.so")


def test_other_files_are_refused(folder, tmp_path):
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(om.FormatError, match="cannot be loaded"):
        Session(tmp_path / "text.so")
    subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", tmp_path / "other.so"], check=True)
    with pytest.raises(om.FormatError, match="none that onemlir has compiled"):
        Session(tmp_path / "other.so")
    with pytest.raises(FileNotFoundError):
        Session(tmp_path / "missing.so")
