"""Products whose operands or result lie in another order of axes run as kernels, without copies."""
import numpy as np
import pytest

from onemlir.frontend import ops
from onemlir.frontend import nn
from onemlir.frontend.tensor import tensor
from onemlir.lowering.compilation import lower
from onemlir.lowering.targets import AVX512, lowering_for


class Heads(nn.Module):
    """softmax-free attention over (batch, time, heads, width)."""

    def forward(self, q, k, v):
        q, k, v = (ops.transpose(x, (0, 2, 1, 3)) for x in (q, k, v))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2)))
        return ops.transpose(ops.matmul(scores, v), (0, 2, 1, 3))


class TimeMajor(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 40)

    def forward(self, x):
        return self.linear(ops.transpose(x, (1, 0, 2)))


def copies_and_kernels(traced) -> tuple[int, int]:
    with lowering_for(AVX512):
        text = str(lower(traced, until="loops"))
    return text.count("memref.copy"), text.count("func.func private @om_kernel_")


@pytest.mark.parametrize("time", [5, 33])
def test_attention_through_transposes(time):
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, time, 3, 16)).astype(np.float32)
    traced = Heads().trace(tensor(q), tensor(k), tensor(v))
    expected = np.einsum("bthd,bshd,bshe->bthe", q, k, v)
    np.testing.assert_allclose(np.asarray(traced.session(threads=1)(q, k, v)), expected, rtol=1e-4, atol=1e-4)
    assert copies_and_kernels(traced) == (0, 2)


def test_a_linear_layer_after_a_transpose():
    x = np.random.default_rng(0).standard_normal((7, 3, 24)).astype(np.float32)
    model = TimeMajor()
    traced = model.trace(tensor(x))
    weight, bias = (np.asarray(p.numpy()) for p in (model.linear.weight, model.linear.bias))
    np.testing.assert_allclose(np.asarray(traced.session(threads=1)(x)), x.transpose(1, 0, 2) @ weight.T + bias, rtol=1e-5, atol=1e-5)
    assert copies_and_kernels(traced)[1] == 2  # packing the weight, and the product
