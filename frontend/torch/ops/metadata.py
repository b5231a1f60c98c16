"""What a program asks of a tensor: sizes, dtype, data. Sizes stay symbolic; data follow the recording's rule for reads."""
from __future__ import annotations

import numpy as np
import torch

from ....errors import TraceError, UnsupportedOpError
from ...locations import user_line
from ..arrays import to_torch
from ..dtypes import result_dtype, to_torch_dtype
from ..registry import handles
from ..sizes import to_sym_int, torch_size
from ..tensor import RecordedTensor, value_of

PASSED = ("get:dtype", "get:device", "get:layout", "get:requires_grad", "get:is_leaf", "get:is_cuda", "get:is_cpu", "get:is_sparse", "get:is_nested",
          "get:is_meta", "get:is_mps", "get:is_xpu", "get:is_quantized", "get:is_mkldnn", "get:is_sparse_csr", "get:is_xla", "get:is_vulkan", "get:is_mtia",
          "get:is_hpu", "get:is_ipu", "get:is_maia", "get:names", "is_floating_point", "is_complex", "is_signed", "is_inference",
          "element_size", "is_conj", "is_neg", "is_same_size", "_is_view", "__hash__", "get_device", "data_ptr", "is_tensor", "is_distributed",
          "_is_zerotensor", "get:_backward_hooks", "is_pinned")
NOTHING = ("get:grad", "get:grad_fn", "get:name", "set:grad", "set:requires_grad", "record_stream", "_assert_scalar", "_assert_tensor_metadata",
           "sym_constrain_range", "sym_constrain_range_for_size", "aten._assert_scalar", "retain_grad")


def _passed(get: str):
    is_property = get.startswith("get:")
    name = get.removeprefix("get:")

    def handler(recording, input, *args):
        with torch._C.DisableTorchFunction():
            return getattr(input, name) if is_property else getattr(torch.Tensor, name, getattr(torch, name, None))(input, *args)
    return handler


for _name in PASSED:
    handles(_name, kind="raw")(_passed(_name))
for _name in NOTHING:
    handles(_name, kind="raw")(lambda recording, *args, **kwargs: None)


@handles("requires_grad_", "share_memory_", "pin_memory", "cpu", "detach_", "rename_", "align_to", "coalesce", kind="raw")
def same(recording, input, *args, **kwargs):
    return recording.recorded(input)


@handles("is_contiguous", kind="raw")
def is_contiguous(recording, input, memory_format=None):
    return True


@handles("get:shape", kind="raw")
def shape(recording, input):
    if not isinstance(input, RecordedTensor):
        with torch._C.DisableTorchFunction():
            return input.shape
    return torch_size(value_of(input).shape)


@handles("dim", "ndimension", "get:ndim", kind="raw")
def rank(recording, input):
    return input.dim() if not isinstance(input, RecordedTensor) else value_of(input).ndim


@handles("size", kind="raw")
def size(recording, input, dim=None):
    sizes = shape(recording, input)
    return sizes if dim is None else sizes[dim]


@handles("sym_size", kind="raw")
def sym_size(recording, input, dim=None):
    return size(recording, input, dim)


@handles("numel", "nelement", "sym_numel", kind="raw")
def numel(recording, input):
    total = 1
    for s in value_of(recording.recorded(input)).shape:
        total = total * s
    return to_sym_int(total)


@handles("get:nbytes", kind="raw")
def nbytes(recording, input):
    return numel(recording, input) * value_of(recording.recorded(input)).dtype.itemsize


@handles("stride", kind="raw")
def stride(recording, input, dim=None):
    """Strides as if the tensor were contiguous: recorded tensors have no layout."""
    strides, step = [], 1
    for s in reversed(value_of(recording.recorded(input)).shape):
        strides.insert(0, to_sym_int(step))
        step = step * s
    return tuple(strides) if dim is None else strides[dim]


@handles("storage_offset", kind="raw")
def storage_offset(recording, input):
    return 0


@handles("__len__", kind="raw")
def length(recording, input):
    if value_of(recording.recorded(input)).ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return value_of(recording.recorded(input)).shape[0].__index__()


@handles("__iter__", kind="raw")
def iterate(recording, input):
    if value_of(recording.recorded(input)).ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    with recording.mode:
        return iter(torch.unbind(input, 0))


@handles("__contains__", kind="raw")
def contains(recording, input, element):
    with recording.mode:
        return bool((input == element).any())


@handles("__repr__", "__str__", kind="raw")
def represent(recording, input, *, tensor_contents=None):
    value = value_of(recording.recorded(input))
    return f"tensor(recorded, {value.dtype}{tuple(value.shape)})" if value._node is not None else repr(to_torch(value._array))


@handles("__format__", kind="raw")
def formatted(recording, input, spec):
    return format(item(recording, input, "format"), spec) if spec else represent(recording, input)


# Data.
def item(recording, input, what: str = "item"):
    array = recording.read(input, what)
    if array.size != 1:
        raise RuntimeError(f"a Tensor with {array.size} elements cannot be converted to Scalar")
    return array.reshape(()).item() if array.dtype.kind != "V" else float(array.reshape(()))


handles("item", "_local_scalar_dense", kind="raw")(item)


def _scalar(what: str, convert):
    return lambda recording, input, *args: convert(item(recording, input, what))


for _name, _convert in {"__bool__": bool, "__int__": int, "__float__": float, "__index__": int, "is_nonzero": bool, "__complex__": complex}.items():
    handles(_name, kind="raw")(_scalar(_name.strip("_").removeprefix("is_non").replace("zero", "bool"), _convert))


@handles("tolist", kind="raw")
def tolist(recording, input):
    return recording.read(input, "tolist").tolist()


@handles("numpy", "__array__", kind="raw")
def numpy(recording, input, dtype=None, force=False):
    array = np.array(recording.read(input, "numpy"))
    return array if dtype is None else array.astype(dtype)


@handles("equal", kind="raw")
def equal(recording, input, other):
    with recording.mode:
        a, b = (value_of(recording.recorded(t)).shape for t in (input, other))
        if len(a) != len(b) or any(x is not y and x != y for x, y in zip(a, b)):
            return False
        return bool((input == other).all())


@handles("allclose", kind="raw")
def allclose(recording, input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    with recording.mode:
        return bool(torch.isclose(input, other, rtol, atol, equal_nan).all())


@handles("result_type")
def result_type(tensor1, tensor2):
    return to_torch_dtype(result_dtype(tensor1, tensor2))


@handles("backward", "grad", kind="raw")
def backward(recording, *args, **kwargs):
    raise TraceError(f"gradients cannot be recorded: a recording is of inference, at {user_line()}\n  torch.autograd and backward() run in training, outside of it")


@handles("__deepcopy__", kind="raw")
def deepcopy(recording, input, memo):
    return RecordedTensor(value_of(recording.recorded(input)))


@handles("cuda", "xpu", "mps", "to_sparse", "to_mkldnn", kind="raw")
def elsewhere(recording, input, *args, **kwargs):
    raise UnsupportedOpError(f"a recording is of dense tensors on the CPU; found a move to another device or layout, at {user_line()}\n"
                             "  leave it out of what is recorded")


@handles("_assert", "_assert_async", "aten._assert_async.msg", kind="raw")
def assert_(recording, condition, message="assertion failed", *rest):
    """A condition on data is checked on every run; one on sizes follows the rule for decisions."""
    if not isinstance(condition, torch.Tensor):
        assert condition, message
        return
    value = value_of(recording.recorded(condition))
    if value._node is None:
        assert bool(value._array), message
        return
    recorder = recording.recorder
    predicate = recorder.call("reshape", recorder.cast(recorder._as_node(value), bool), shape=())
    recorder.call("guard", predicate, message=f"{message}, at {user_line()}", kind="GuardError")
