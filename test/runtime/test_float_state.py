"""Inside a run denormals are zero and nothing traps; the caller's floating-point state is as it was, on every thread."""
import ctypes
import platform
import subprocess
import sys

import numpy as np
import pytest

import onemlir as om

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks glibc for the state")
UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}[platform.machine().replace("arm64", "aarch64")]


@pytest.mark.parametrize("n", [4, 1 << 20], ids=["one thread", "on the pool"])
def test_denormals_are_zero_inside_alone(n):
    session = om.trace(lambda x: x * 0.5, om.zeros((4,)), axes=("n",)).session(threads=2)
    x = np.full(n, 1.2e-38, np.float32)
    assert not session(x).any()
    assert (x * np.float32(0.5)).all()


def test_the_callers_rounding_is_kept_and_does_not_matter():
    session = om.trace(lambda x: x / 3, om.zeros((4,)), axes=("n",)).session(threads=1)
    libm, x = ctypes.CDLL("libm.so.6"), np.arange(1, 50, dtype=np.float32)
    expected = x / np.float32(3)
    libm.fesetround(UPWARD)
    try:
        found, kept = session(x), libm.fegetround()
    finally:
        libm.fesetround(0)
    assert kept == UPWARD and found.tobytes() == expected.tobytes()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="Arm processors do not trap")
def test_exceptions_that_the_caller_wants_do_not_end_it():
    program = """
import ctypes, numpy as np, onemlir as om
session = om.trace(lambda x: x / x, om.zeros((4,)), axes=("n",)).session(threads=2)
libm, x = ctypes.CDLL("libm.so.6"), np.zeros(1 << 20, np.float32)
libm.feenableexcept(1)  # invalid operations
y = session(x)
print(libm.fegetexcept())
libm.fedisableexcept(1)
assert np.isnan(y).all()
"""
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "1\n"
