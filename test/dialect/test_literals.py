"""Arrays as dense attributes and back."""
import numpy as np
import pytest
from mlir import ir

from onemlir.dialect import bindings, dtypes
from onemlir.dialect.literals import array_of, dense_attribute

SHAPES = [(), (1,), (8,), (9,), (3, 3, 1), (2, 0), (17,)]


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_round_trip(dtype, shape):
    count = int(np.prod(shape))
    arrays = [np.zeros(shape, dtype), np.ones(shape, dtype), (np.arange(count) % 3 == 1).reshape(shape).astype(dtype)]
    with bindings.new_context(), ir.Location.unknown():
        for array in arrays:
            found = array_of(ir.Attribute.parse(str(dense_attribute(array, ir))), ir)
            assert found.dtype == dtype and found.shape == shape
            np.testing.assert_array_equal(found, array)
