"""The compile cache."""
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import onemlir as om
from onemlir.lowering import register_pass
from onemlir.runtime import cache
from onemlir.runtime.cached import compiler_version, program_key

from .models import gathering, mlp, mlp_by_numpy, tiny

X = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEMLIR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_second_session_comes_from_the_cache():
    traced = tiny()
    first, second = traced.session(), traced.session()
    assert (first.cached, second.cached) == (False, True)
    np.testing.assert_array_equal(second(X), X * 3 + 1)


def test_other_weights_use_the_same_entry():
    mlp()[1].session()
    om.manual_seed(1)
    other = om.nn.Sequential(om.nn.Linear(16, 32), om.nn.ReLU(), om.nn.Linear(32, 4))
    first, second = mlp()[1], other.trace(om.zeros((3, 16)), axes=("batch", None))
    if program_key(first.program) == program_key(second.program):  # recorded at one line
        assert second.session().cached
    np.testing.assert_allclose(second.session()(X), mlp_by_numpy(other, X), rtol=1e-5, atol=1e-6)


def test_messages_of_cached_code():
    texts = []
    for _ in range(2):
        session = gathering().session()
        with pytest.raises(om.OnemlirError) as caught:
            session(np.zeros((4, 3), np.float32), np.array([9]))
        texts.append((type(caught.value), str(caught.value)))
    assert session.cached and texts[0] == texts[1] and "index 9" in texts[0][1]


def test_another_process_finds_it(empty_cache):
    program = """
import numpy as np, sys
sys.path.insert(0, sys.argv[1])
import onemlir as om
session = om.trace(lambda x: x * 3 + 1, om.zeros((3, 16)), axes=("batch", None)).session(threads=2)
print(session.cached, session(np.ones((2, 16), np.float32)).tobytes().hex())
"""
    runs = [subprocess.Popen([sys.executable, "-c", program, "."], stdout=subprocess.PIPE, text=True, cwd=empty_cache.parent) for _ in range(3)]
    together = [run.communicate()[0].split() for run in runs]  # several at once: each compiles or finds a whole entry
    alone = subprocess.run([sys.executable, "-c", program, "."], check=True, capture_output=True, text=True, cwd=empty_cache.parent).stdout.split()
    assert alone[0] == "True"
    assert {result[1] for result in together} == {alone[1]}
    assert not list(empty_cache.glob(".new-*"))


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:len(data) // 2], lambda data: data[:-1] + bytes([data[-1] ^ 1])])
def test_damaged_entries_are_rebuilt(empty_cache, damage):
    traced = tiny()
    traced.session()
    for path in empty_cache.glob("*.code"):
        path.write_bytes(damage(path.read_bytes()))
    session = traced.session()
    assert not session.cached
    np.testing.assert_array_equal(session(X), X * 3 + 1)
    assert traced.session().cached


def test_switches(monkeypatch, empty_cache):
    traced = tiny()
    assert not traced.session(cache=False).cached and not list(empty_cache.glob("*"))
    monkeypatch.setenv("ONEMLIR_CACHE", "off")
    traced.session()
    assert not traced.session().cached
    assert list(cache.entries()) == []


def test_target_is_part_of_the_key(monkeypatch):
    traced = tiny()
    before = program_key(traced.program)
    monkeypatch.setenv("ONEMLIR_TARGET", "sse2")
    assert program_key(traced.program) != before
    assert len(compiler_version()) > 100


def test_a_registered_pass_bypasses_the_cache():
    from onemlir.lowering.registry import PASSES

    traced = tiny()
    traced.session()
    register_pass("test-nothing", after="om-decompose")(lambda module: None)
    try:
        assert program_key(traced.program) is None
        assert not traced.session().cached
    finally:
        del PASSES["test-nothing"]
    assert traced.session().cached


def test_least_recently_used_go_first(monkeypatch, empty_cache):
    for number in range(6):
        cache.write(f"{number:064x}", {}, bytes(300_000))
        time.sleep(0.02)
    cache.read(f"{0:064x}")
    monkeypatch.setenv("ONEMLIR_CACHE_SIZE", "1")
    cache.write("f" * 64, {}, bytes(300_000))
    kept = {entry.path.stem for entry in cache.entries()}
    assert kept == {"f" * 64, f"{0:064x}", f"{5:064x}"}
    assert sum(entry.size for entry in cache.entries()) <= 1 << 20
    assert cache.clear() == 3 and not list(cache.entries())


def test_several_threads_write_and_read():
    failures = []

    def work(number):
        for _ in range(50):
            cache.write("a" * 64, {"n": number}, bytes([number]) * 1000)
            header, code = cache.read("a" * 64)
            if code != bytes([header["n"]]) * 1000:
                failures.append(header)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_folder_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ONEMLIR_CACHE", str(tmp_path / "file" / "below"))
    traced = tiny()
    np.testing.assert_array_equal(traced.session()(X), X * 3 + 1)


MULTIPLY = """
import pickle, numpy as np, onemlir as om
x = np.ones((256, 256), np.float32)
traced = om.nn.Linear(256, 256).trace(om.tensor(x))
"""
DENY = """
import ctypes
class Stack(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
place = ctypes.create_string_buffer(8192)  # too small a signal stack for tiles: Linux then refuses them
assert ctypes.CDLL(None).sigaltstack(ctypes.byref(Stack(ctypes.addressof(place), 0, 8192)), None) == 0
"""
USE = """
from onemlir.errors import CompileError
for options in ({}, {"cache": False, "isolate": True}):
    traced.session(**options)(x)
try:
    pickle.load(open("session", "rb"))(x)
except CompileError as error:
    assert "AMX" in str(error), error
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for AMX")
def test_a_process_that_may_not_use_the_matrix_unit_does_not_meet_its_code(tmp_path):
    for program in (MULTIPLY + "traced.session()(x); pickle.dump(traced.session(), open('session', 'wb'))", DENY + MULTIPLY + USE):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
