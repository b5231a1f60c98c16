"""Other processors than this one: object files for aarch64, levels of x86-64, one that is too old."""
import os
import platform
import shutil
import struct
import subprocess

import numpy as np
import pytest

import onemlir as om
from onemlir.lowering import targets
from onemlir.runtime import Session
from onemlir.runtime.ahead_of_time import link
from onemlir.runtime.ahead_of_time.features import BITS, LEVELS, NAMED
from onemlir.runtime.ahead_of_time.link import linker
from onemlir.runtime.ahead_of_time.machines import machine_of

from .models import mlp, mlp_by_numpy, tiny

X86 = platform.machine() == "x86_64"
X = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)


def machine_code(path):
    data = path.read_bytes()
    assert data[:4] == b"\x7fELF"
    return struct.unpack_from("<H", data, 18)[0]


def test_object_for_aarch64(tmp_path):
    tiny().compile(tmp_path / "net.o", target="aarch64-linux-gnu")
    assert machine_code(tmp_path / "net.o") == 183
    assert (tmp_path / "net.h").exists()


def test_object_for_x86_64(tmp_path):
    tiny().compile(tmp_path / "net.o", target="x86_64-linux-gnu", cpu="x86-64")
    assert machine_code(tmp_path / "net.o") == 62


def test_library_for_aarch64_under_qemu(tmp_path):
    try:
        linker(machine_of("aarch64-linux-gnu"))
    except om.CompileError:
        pytest.skip("needs a linker for aarch64, such as ziglang's")
    model, traced = mlp()
    traced.compile(tmp_path / "net", target="aarch64-linux-musl", executable=True)
    assert machine_code(tmp_path / "net") == 183
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if emulator is None:
        pytest.skip("needs qemu-user")
    np.save(tmp_path / "x.npy", X)
    subprocess.run([emulator, "./net", "x.npy", "y.npz"], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["output"], mlp_by_numpy(model, X), rtol=1e-5, atol=1e-6)


def test_zig_has_a_folder_where_there_is_no_home(tmp_path, monkeypatch):
    monkeypatch.setattr(link.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    assert os.path.isdir(link._environment()["ZIG_GLOBAL_CACHE_DIR"])
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "ZIG_GLOBAL_CACHE_DIR" not in link._environment()


def test_no_linker_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, find=__import__("importlib").util.find_spec: None if name == "ziglang" else find(name))
    with pytest.raises(om.CompileError, match="pip install ziglang"):
        tiny().compile(tmp_path / "net.so")
    tiny().compile(tmp_path / "net.a")
    assert (tmp_path / "net.a").read_bytes().startswith(b"!<arch>\n")


@pytest.mark.skipif(not X86 or shutil.which("cc") is None, reason="needs x86-64 and a linker")
class TestLevels:
    def test_best_level_is_chosen_on_loading(self, tmp_path):
        model, traced = mlp()
        traced.compile(tmp_path / "net.so", cpu="x86-64-v4,x86-64-v2,x86-64-v3")
        session = Session(tmp_path / "net.so")
        np.testing.assert_allclose(session(X), mlp_by_numpy(model, X), rtol=1e-5, atol=1e-6)
        import ctypes

        words = (ctypes.c_int64 * 3).in_dll(ctypes.CDLL(str(tmp_path / "net.so")), "onemlir_library")
        level = {"avx2vnni": 1, "avx2": 1, "sse2": 0}.get(targets.host().name, 2)
        assert ctypes.c_int32.from_address(words[2]).value == level

    @pytest.mark.parametrize("level", ["x86-64", "x86-64-v2", "x86-64-v3"])
    def test_one_level_has_no_instructions_of_a_higher_one(self, tmp_path, level):
        tiny().compile(tmp_path / "net.o", cpu=level)
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", tmp_path / "net.o"], check=True, capture_output=True, text=True).stdout
        assert ("%ymm" in text) == (level == "x86-64-v3") and "%zmm" not in text

    def test_a_processor_that_is_too_old(self, tmp_path):
        """Code for a processor with every instruction set: none has them all."""
        missing = next(name for name in ("znver5", "znver4", "sapphirerapids") if not _has(NAMED[name][1]))
        tiny().compile(tmp_path / "net.so", cpu=missing)
        with pytest.raises(om.CompileError, match="lacks instructions"):
            Session(tmp_path / "net.so")
        program = '#include <stdio.h>\n#include "net.h"\nint main(void) { DLTensor a = {0}, b = {0}; puts(net_error(net_run(&a, &b))); return net_supported(); }\n'
        (tmp_path / "main.c").write_text(program)
        subprocess.run(["cc", "main.c", "net.so", "-o", "main", "-Wl,-rpath,$ORIGIN"], cwd=tmp_path, check=True)
        result = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True)
        assert (result.returncode, result.stdout) == (0, f"this processor lacks instructions that the library was compiled for ({missing})\n")


def _has(features) -> bool:
    flags = targets._flags()
    renamed = {"pclmul": "pclmulqdq", "avx512vbmi2": "avx512_vbmi2", "avx512vnni": "avx512_vnni", "avxvnni": "avx_vnni", "avx512fp16": "avx512_fp16",
               "avx512bf16": "avx512_bf16", "avx512bitalg": "avx512_bitalg", "avx512vpopcntdq": "avx512_vpopcntdq", "sha": "sha_ni",
               "avx512vp2intersect": "avx512_vp2intersect"}  # fmt: skip
    return {renamed.get(name, name) for name in features} <= flags


def test_every_feature_of_a_known_processor_can_be_asked_for():
    for level, extra in NAMED.values():
        assert set(LEVELS[level] + extra) <= set(BITS)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"target": "riscv64-linux-gnu"}, "x86_64 and aarch64"), ({"target": "x86_64-linux-gnu", "cpu": "pentium9"}, "unknown processor 'pentium9'"),
        ({"target": "aarch64-linux-gnu", "cpu": "native"}, "native"), ({"threads": 0}, "at least 1"),
        ({"target": "x86_64-pc-windows-msvc"}, "Linux and macOS"), ({"target": "aarch64-linux-musl", "cpu": "x86-64-v3"}, "unknown aarch64 processor 'x86-64-v3'"),
        ({"executable": True, "weights": "net.weights"}, "in its own folder"),
    ],
)  # fmt: skip
def test_wrong_options(tmp_path, options, message):
    if X86 and options.get("target") == "aarch64-linux-gnu" or "native" not in message:
        with pytest.raises(om.CompileError, match=message):
            tiny().compile(tmp_path / "net.o", **options)


def test_unknown_suffix(tmp_path):
    with pytest.raises(om.CompileError, match="cannot tell from 'net.wasm'"):
        tiny().compile(tmp_path / "net.wasm")
