"""Compilation in a child process, and sessions that are sent to other processes."""
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import onemlir as om
from onemlir.runtime import isolation
from onemlir.runtime.isolation import Limits

from .models import CPU, gathering, mlp, mlp_by_numpy, tiny

X = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)


def test_session_from_a_child():
    model, traced = mlp()
    session = traced.session(isolate=True, cache=False)
    np.testing.assert_allclose(session(X), mlp_by_numpy(model, X), rtol=1e-5, atol=1e-6)


def test_object_from_a_child(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny().compile("net.o", isolate=True, cpu=CPU)
    tiny().compile("here.o", name="net", cpu=CPU)
    assert (tmp_path / "net.o").read_bytes() == (tmp_path / "here.o").read_bytes()


def test_relative_paths_from_a_child(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    mlp()[1].compile("below/net.o", weights="below/net.weights", isolate=True, cpu=CPU)
    assert {path.name for path in (tmp_path / "below").iterdir()} == {"net.o", "net.h", "net.weights"}


def kept_request(message):
    folder = message.split("kept in ")[1].split(";")[0]
    assert os.path.exists(os.path.join(folder, isolation.REQUEST))
    assert f"-m onemlir.runtime.isolation {folder}" in message
    return folder


def test_time_limit():
    with pytest.raises(om.CompileError, match="more than 0.1 seconds") as caught:
        tiny().session(isolate=True, cache=False, time_limit=0.1)
    folder = kept_request(str(caught.value))
    again = subprocess.run(isolation.command(folder), capture_output=True, text=True, env=isolation._environment())  # the command works as printed
    assert again.returncode == 0 and "header" in json.loads(open(os.path.join(folder, isolation.RESULT)).read())


@pytest.mark.parametrize("size", [10, 150])
def test_memory_limit(tmp_path, monkeypatch, size):
    monkeypatch.setattr(isolation.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(om.CompileError, match=f"^{size} MiB is too little memory to compile$"):
        tiny().session(isolate=True, cache=False, memory_limit=size << 20)
    assert not list(tmp_path.glob("onemlir-compile-*"))


def test_an_abort_in_the_child_is_an_error(tmp_path):
    """A module that breaks an assumption of LLVM's ends the child."""
    script = tmp_path / "abort.py"
    script.write_text("import os\nos.abort()\n")
    original = isolation.command
    try:
        isolation.command = lambda folder: [sys.executable, str(script), str(folder)]
        with pytest.raises(om.CompileError, match="was ended by SIGABRT"):
            isolation.isolated_code(tiny().program, Limits())
    finally:
        isolation.command = original


def test_refusals_of_the_child_keep_their_class(tmp_path):
    with pytest.raises(om.CompileError, match="unknown processor 'pentium9'"):
        tiny().compile(tmp_path / "net.o", target="x86_64-linux-gnu", cpu="pentium9", isolate=True)


def test_pickled_session_runs_in_another_process(tmp_path):
    model, traced = mlp()
    with open(tmp_path / "session.pickle", "wb") as file:
        pickle.dump(traced.session(), file)
    np.save(tmp_path / "x.npy", X)
    program = """
import pickle, sys, numpy as np
session = pickle.load(open("session.pickle", "rb"))
np.save("y.npy", session(np.load("x.npy")))
assert not any(name.split(".")[0] == "mlir" for name in sys.modules), "the compiler was imported"
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), mlp_by_numpy(model, X), rtol=1e-5, atol=1e-6)


def test_pickled_session_keeps_names_structure_and_errors():
    session = gathering().session()
    again = pickle.loads(pickle.dumps(session))
    rows, i = np.ones((4, 3), np.float32), np.array([3, 0])
    assert list(again(rows, i)) == list(session(rows, i))
    with pytest.raises(om.IndexRangeError, match="index 4"):
        again(rows, np.array([4]))
    assert [s.shape for s in again.outputs] == [s.shape for s in session.outputs]


def test_pickled_session_refuses_a_lesser_processor(monkeypatch):
    data = pickle.dumps(tiny().session())
    monkeypatch.setattr("onemlir.runtime.portable.processor_features", lambda: frozenset(["x86_64"]))
    with pytest.raises(om.CompileError, match="compiled for a processor that also has"):
        pickle.loads(data)
