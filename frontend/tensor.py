"""`Tensor`: numpy arrays with the dialect's dtypes, eager or recorded."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..dialect import dtypes, ops as _declarations  # noqa: F401
from ..dialect.declare import REGISTRY
from ..dialect.masked import refuse_masked
from ..errors import DTypeError, OnemlirError, ShapeError, TraceError
from .autograd import check_in_place, grad_mode
from .dispatch import apply, current_recorder, current_scope

MAXIMUM_RANK = 64  # of a numpy array


class Tensor:
    """An n-dimensional array. Eager tensors hold a numpy array; recorded ones stand for a value of the graph being recorded.

    Operators, indexing, promotion and broadcasting follow numpy. Use `tensor` to make one from data.
    """

    __slots__ = ("_array", "_node", "requires_grad", "grad", "_tape", "_version", "_view", "_scope", "_hooks", "__weakref__")
    __array_priority__ = 1000

    def __init__(self, data=None, dtype=None, requires_grad: bool = False):
        self._array = None if data is None else _array(data, dtype)
        self._node = None
        self.requires_grad = requires_grad
        self.grad = None
        self._tape = None
        self._version = 0
        self._view = None  # how it shows the elements of another tensor, in a recording
        self._scope = current_scope()  # the recording, and the body of control flow in it, that made the elements

    @classmethod
    def _wrap(cls, array: np.ndarray) -> "Tensor":
        self = cls.__new__(Tensor)
        self._array, self._node, self.requires_grad, self.grad, self._tape, self._version = array, None, False, None, None, 0
        self._view, self._scope = None, current_scope()
        return self

    @classmethod
    def _recorded(cls, node, scope=None) -> "Tensor":
        self = cls._wrap(None)
        self._node, self._scope = node, scope
        return self

    # What the tensor is.
    @property
    def shape(self) -> tuple:
        """Sizes; of a recorded tensor symbolic sizes are `SymbolicInt`, which compute like ints."""
        if self._node is not None:
            return current_or_owner(self).sizes(self._node.shape)
        return self._array.shape

    @property
    def dtype(self) -> np.dtype:
        return self._node.dtype if self._node is not None else self._array.dtype

    @property
    def ndim(self) -> int:
        return self._node.rank if self._node is not None else self._array.ndim

    @property
    def size(self):
        """Number of elements."""
        result = 1
        for s in self.shape:
            result = result * s
        return result

    @property
    def weak(self) -> bool:
        """Whether the tensor was computed from sizes and Python numbers alone, so that, like those, it does not decide about dtypes."""
        return self._node is not None and self._node.weak

    @property
    def is_recorded(self) -> bool:
        """Whether the tensor stands for a value of a recording, which has no data yet."""
        return self._node is not None

    @property
    def T(self) -> "Tensor":
        """The tensor with its axes reversed."""
        return apply(REGISTRY["om.transpose"], [self], {"axes": None})

    @property
    def mT(self) -> "Tensor":
        """The tensor with its last two axes swapped."""
        order = list(range(self.ndim))
        order[-2:] = order[:-3:-1]
        return apply(REGISTRY["om.transpose"], [self], {"axes": tuple(order)})

    def dim(self) -> int:
        return self.ndim

    def numel(self):
        return self.size

    # Reading data. A recorded tensor answers by the rule of its recording.
    def _read(self, what: str) -> np.ndarray:
        if self._view is not None and current_recorder() is not None:
            current_recorder().refresh(self)
        if self._node is not None:
            return current_or_owner(self).read(self, what)
        return self._array

    def numpy(self) -> np.ndarray:
        """A copy of the data as a numpy array."""
        return np.array(self._read("numpy"))

    def item(self):
        """The one element as a Python scalar."""
        return self._scalar("item").item()

    def tolist(self):
        """The data as nested Python lists."""
        return self._read("tolist").tolist()

    def _scalar(self, what: str) -> np.ndarray:
        if self._node is None and self._array.size != 1:
            raise OnemlirError(f"{what}() needs a tensor of one element, found shape {self._array.shape}")
        return self._read(what).reshape(())

    def __bool__(self) -> bool:
        return bool(self._scalar("bool"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __round__(self, digits: int | None = None):
        return round(self._scalar("round").item(), digits)

    def __index__(self) -> int:
        if self.dtype not in dtypes.INTEGER:
            raise TypeError(f"a tensor of {self.dtype} is no index")
        return int(self._scalar("index"))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        array = self._read("numpy")
        return np.array(array, dtype=dtype) if copy is not False else np.asarray(array, dtype=dtype)

    def __dlpack__(self, **options):
        return self._read("dlpack").__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)

    def __array_function__(self, function, types, args, kwargs):
        """numpy's functions take tensors as arrays, which is a read; those of `onemlir.ops` do not read."""
        name = getattr(function, "__name__", "function")
        return function(*_as_arrays(args, name), **_as_arrays(kwargs, name))

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("a rank-0 tensor has no length")
        return _length(self.shape[0], "len")

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("a rank-0 tensor cannot be iterated over")
        return (self[i] for i in range(_length(self.shape[0], "iteration")))

    def __contains__(self, value) -> bool:
        return bool((self == value).any())

    def __copy__(self) -> "Tensor":
        made = type(self).__new__(type(self))
        for name in Tensor.__slots__[:-1]:
            if hasattr(self, name):
                setattr(made, name, getattr(self, name))
        return made

    def __reduce_ex__(self, protocol):
        if self._node is not None:
            raise TraceError("pickling or deep-copying a recorded tensor: it has no data yet; x.copy() has elements of its own")
        return super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        if self._node is not None:
            return f"Tensor(recorded, {self._node.type})"
        text = np.array2string(self._array, separator=", ", prefix="tensor(", threshold=100, edgeitems=3)
        grad = ", requires_grad=True" if self.requires_grad else ""
        return f"tensor({text}, dtype={self.dtype}{grad})"

    def __format__(self, spec: str) -> str:
        return format(self._scalar("format").item(), spec) if spec else str(self)

    def __hash__(self) -> int:
        return id(self)

    # Conversions.
    def astype(self, dtype) -> "Tensor":
        """The tensor converted to another dtype; itself when it has it."""
        dtype = dtypes.dtype_of(dtype)
        return self if dtype == self.dtype else apply(REGISTRY["om.cast"], [self], {"dtype": dtype})

    def float(self) -> "Tensor":
        return self.astype(dtypes.float32)

    def detach(self) -> "Tensor":
        """The same data, cut off from gradients."""
        return Tensor._wrap(self._array) if self._node is None and current_recorder() is None else self

    def copy(self) -> "Tensor":
        """A tensor with elements of its own."""
        return Tensor._wrap(self._array.copy()) if self._node is None else current_or_owner(self).copied(self)

    # In-place changes.
    def __setitem__(self, key, value) -> None:
        if self._node is not None or current_recorder() is not None:
            (current_recorder() or current_or_owner(self)).set_item(self, key, value)
            return
        check_in_place("setitem", self, value)
        self._array[_plain_key(key)] = value._array if isinstance(value, Tensor) else value
        self._version += 1

    def __getitem__(self, key) -> "Tensor":
        from .ops.indexing import getitem

        return getitem(self, key)


def current_or_owner(tensor: Tensor):
    """The recorder that a recorded tensor belongs to."""
    return tensor._node.builder


def _length(size, what: str) -> int:
    return size if isinstance(size, int) else size._value(what)


def _as_arrays(value, name: str):
    """Containers of arguments with tensors replaced by their arrays."""
    if isinstance(value, Tensor):
        return value._read(f"numpy.{name}")
    if isinstance(value, dict):
        return {k: _as_arrays(v, name) for k, v in value.items()}
    return type(value)(_as_arrays(v, name) for v in value) if type(value) in (tuple, list) else value


def _plain_key(key):
    if isinstance(key, tuple):
        return tuple(_plain_key(k) for k in key)
    return key._array if isinstance(key, Tensor) else key


def _array(data: Any, dtype) -> np.ndarray:
    wanted = None if dtype is None else dtypes.dtype_of(dtype)
    if isinstance(data, Tensor):
        return np.array(data._read("tensor"), wanted)
    if isinstance(data, (np.ndarray, np.generic)):
        refuse_masked(data, "the data")
        return np.array(data, dtypes.dtype_of(data.dtype) if wanted is None else wanted, order="C")
    if hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__"):
        array = np.from_dlpack(data)
        return np.array(array, dtypes.dtype_of(array.dtype) if wanted is None else wanted)
    if hasattr(data, "__array__"):
        return _array(np.asarray(data), dtype)
    return _from_python(data, wanted)


def _from_python(data, wanted) -> np.ndarray:
    data = _unwrap(data)
    try:
        array = np.array(data)
    except ValueError as error:
        raise ShapeError(f"cannot make a tensor of nested lists whose lengths differ: {_short(data)}") from error
    if array.dtype == object or array.dtype.kind in "SUmM":
        raise _no_tensor(data)
    if wanted is None:
        has_numpy = array.dtype.kind == "f" and isinstance(_first(data), np.generic)
        wanted = array.dtype if has_numpy or array.dtype.kind == "b" else dtypes.float32 if array.dtype.kind == "f" else dtypes.dtype_of(array.dtype)
    return array.astype(wanted)


def _no_tensor(data) -> OnemlirError:
    """The error for data that numpy has no number type for."""
    leaves, pending = [], [data]
    while pending and not leaves:
        item = pending.pop()
        pending += item if isinstance(item, list) else []
        leaves += [item] if not isinstance(item, (list, bool, int, float)) or (isinstance(item, int) and not -2**63 <= item < 2**64) else []
    if leaves and isinstance(leaves[0], int):
        return DTypeError(f"{leaves[0]} does not fit any integer dtype, the widest of which have 64 bits; give a float, or dtype=om.float64")
    if leaves and type(leaves[0]).__name__ == "SymbolicInt":
        leaves[0].recorder.refuse(f"a tensor made of the symbolic size {leaves[0]}", "ops.full(shape, size), and ops.stack of such tensors, follow the size")
    what = f"{type(leaves[0]).__name__} in it" if leaves and isinstance(data, list) else type(data).__name__
    return OnemlirError(f"cannot make a tensor of {_short(data)}: a tensor holds numbers or bools, found {what}")


def _short(data) -> str:
    text = repr(data)
    return text if len(text) <= 80 else text[:77] + "..."


def _first(data):
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return data


def _unwrap(data, depth: int = 0):
    if isinstance(data, (list, tuple)):
        if depth == MAXIMUM_RANK:
            raise ShapeError(f"cannot make a tensor of lists nested deeper than {MAXIMUM_RANK} levels, or of one that holds itself")
        return [_unwrap(item, depth + 1) for item in data]
    refuse_masked(data, "the data")
    return data._read("tensor") if isinstance(data, Tensor) else data


def tensor(data, dtype=None, requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of `data`: nested lists, scalars, numpy arrays, tensors, anything with DLPack.

    Without `dtype`, Python floats become f32 and ints i64; arrays keep their dtype. Raises DTypeError for dtypes that the dialect
    does not have, OnemlirError for data that is no array.
    """
    if data is None:
        raise OnemlirError("cannot make a tensor of None")
    made = Tensor(data, dtype)
    return made.requires_grad_() if requires_grad else made


def _install_operators() -> None:
    binary = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder", "pow": "pow",
              "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift"}
    for name, function in binary.items():
        setattr(Tensor, f"__{name}__", _binary(function))
        setattr(Tensor, f"__r{name}__", _binary(function, swap=True))
        setattr(Tensor, f"__i{name}__", _in_place(function))
    for name, function in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}.items():
        setattr(Tensor, f"__{name}__", _binary(function))
    for name, function in {"neg": "negative", "abs": "abs", "invert": "bitwise_not"}.items():
        setattr(Tensor, f"__{name}__", _unary(function))
    Tensor.__pos__ = lambda self: self


_OPERANDS = (Tensor, np.ndarray, np.generic, int, float, bool)


def _binary(function: str, swap: bool = False):
    op = REGISTRY[f"om.{function}"]

    def operator(self, other):
        if not isinstance(other, _OPERANDS) and not hasattr(other, "symbolic_size"):
            return NotImplemented
        return apply(op, (other, self) if swap else (self, other), {})
    return operator


def _unary(function: str):
    op = REGISTRY[f"om.{function}"]
    return lambda self: apply(op, (self,), {})


def _in_place(function: str):
    op = REGISTRY[f"om.{function}"]

    def operator(self, other):
        if self._node is not None or current_recorder() is not None:
            return (current_recorder() or current_or_owner(self)).update(self, function, other)
        if self._tape is not None or getattr(other, "requires_grad", False):
            return apply(op, (self, other), {})
        check_in_place(f"in-place {function}", self, other)
        with grad_mode(False):
            result = apply(op, (self, other), {})
        if result.shape != self.shape or result.dtype != self.dtype:
            raise OnemlirError(f"in-place {function} would change {self.dtype}{self.shape} to {result.dtype}{result.shape}")
        self._array[...] = result._array
        self._version += 1
        return self
    return operator


_install_operators()

from . import tensor_gradients  # noqa: E402,F401  gives Tensor its methods for gradients
