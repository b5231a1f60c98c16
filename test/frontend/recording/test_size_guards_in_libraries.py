"""Size guards of a compiled library hold before any work is done: its C interface says so when it is asked for the sizes of outputs."""
import ctypes

import numpy as np
import pytest

import onemlir as om
from onemlir import ops


class DLTensor(ctypes.Structure):
    """Of dlpack.h."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


def output_sizes(path, size: int) -> tuple[int, int, str]:
    """Status, the size of axis 0 of the output, and the text of the status."""
    library = ctypes.CDLL(str(path))
    array, shape = np.ones(size, np.float32), (ctypes.c_int64 * 1)(size)
    tensor = DLTensor(array.ctypes.data, (ctypes.c_int32 * 2)(1, 0), 1, 2, 32, 1, shape, None, 0)
    found = (ctypes.c_int64 * 1)()
    status = library.guarded_output_sizes((ctypes.POINTER(DLTensor) * 1)(ctypes.pointer(tensor)), 0, found)
    library.guarded_error.restype = ctypes.c_char_p
    return status, found[0], library.guarded_error(status).decode()


def test_before_any_work(tmp_path):
    def function(x):
        return ops.exp(x) * (2 if x.shape[0] > 2 else 1) if (x.shape[0] + 1) % 2 == 0 else x

    path = om.trace(function, om.ones((3,)), axes=("n",), on_read="guard").compile(tmp_path / "guarded.so")
    assert output_sizes(path, 5)[:2] == (0, 5)
    for size, words in [(1, "assumes n >= 3"), (4, "2*((n) // 2) - n + 1 == 0")]:
        status, _, text = output_sizes(path, size)
        assert status > 0 and words in text, text
    session = om.Session(path)
    np.testing.assert_array_equal(session(np.zeros(5, np.float32)), np.full(5, 2.0))
    with pytest.raises(om.GuardError, match="n >= 3; found 1, expected at least 3"):
        session(np.ones(1, np.float32))
    assert session._checks and len(session._plans) == 1  # refused before a plan was made
