"""Sizes of symbolic axes as Python sees them: integers that compute symbolically and know the example's value."""
from __future__ import annotations

from typing import Callable

from ..dialect import symbolic
from ..dialect.symbolic import Dim, Size
from .locations import is_library_frame


class SymbolicInt:
    """A size of a recording. Arithmetic stays symbolic; deciding on it or converting it follows the recording's rule for reads."""

    __slots__ = ("symbolic_size", "recorder")

    def __init__(self, size: Dim, recorder):
        self.symbolic_size = size
        self.recorder = recorder

    @property
    def __class__(self):
        """`int` for a program that asks isinstance(size, int), as in an eager run."""
        return SymbolicInt if is_library_frame(1) else int

    @property
    def example(self) -> int:
        """The value that the size has in the example."""
        return self.recorder.example_size(self.symbolic_size)

    def _decide(self, what: str, decided: bool | None, holds: Callable[[], bool], condition: Callable[[bool], tuple]) -> bool:
        return decided if decided is not None else self.recorder.read_size(what, holds, condition)

    def _value(self, what: str) -> int:
        return self.recorder.read_size(what, lambda: self.example, lambda value: ("eq", self.symbolic_size, value))

    def __index__(self) -> int:
        return self._value("index")

    def __int__(self) -> int:
        return self._value("int")

    def __float__(self) -> float:
        return float(self._value("float"))

    def __hash__(self) -> int:
        return hash(self._value("hash"))  # equal to the hash of the int, so that a dict finds what it would find in an eager run

    def __bool__(self) -> bool:
        low, _ = symbolic.bounds(self.symbolic_size)
        return self._decide("bool", True if low is not None and low > 0 else None, lambda: self.example != 0,
                            lambda holds: ("ne" if holds else "eq", self.symbolic_size, 0))

    def __eq__(self, other):
        size = size_of(other)
        if size is None:
            return False if other is None or isinstance(other, str) else NotImplemented
        return self._decide("==", symbolic.equal(self.symbolic_size, size), lambda: self.example == self.recorder.example_size(size),
                            lambda holds: ("eq" if holds else "ne", self.symbolic_size, size))

    def __ne__(self, other):
        result = self.__eq__(other)
        return result if result is NotImplemented else not result

    def __le__(self, other):
        return self._less_equal("<=", self.symbolic_size, size_of(other))

    def __ge__(self, other):
        return self._less_equal(">=", size_of(other), self.symbolic_size)

    def __lt__(self, other):
        return self._not(self._less_equal("<", size_of(other), self.symbolic_size))

    def __gt__(self, other):
        return self._not(self._less_equal(">", self.symbolic_size, size_of(other)))

    @staticmethod
    def _not(result):
        return result if result is NotImplemented else not result

    def _less_equal(self, sign: str, left: Size | None, right: Size | None):
        """Whether left <= right; `sign` is what the program asked, of which "<" and ">" are the opposite."""
        if left is None or right is None:
            return NotImplemented
        example = self.recorder.example_size
        return self._decide(sign, symbolic.less_equal(left, right), lambda: example(left) <= example(right),
                            lambda holds: ("le", left, right) if holds else ("le", right + 1, left))

    def __pow__(self, exponent):
        if not isinstance(exponent, int) or exponent < 0:
            return _tensor_of(self) ** exponent
        return wrap(symbolic.product([self.symbolic_size] * exponent), self.recorder)

    def __rpow__(self, base):
        return base ** _tensor_of(self)

    def __divmod__(self, other):
        return self // other, self % other

    def __pos__(self):
        return self

    def __abs__(self):
        low, _ = symbolic.bounds(self.symbolic_size)
        return self if low is not None and low >= 0 else abs(self._value("abs"))

    def __neg__(self):
        return wrap(symbolic.mul(self.symbolic_size, -1), self.recorder)

    def __trunc__(self):
        return self

    __floor__ = __ceil__ = __trunc__

    def __round__(self, digits: int = 0):
        return self if digits >= 0 else round(self._value("round"), digits)

    def conjugate(self):
        return self

    real = numerator = property(conjugate)
    imag, denominator = 0, 1

    def __getattr__(self, name: str):
        if name.startswith("_") or not hasattr(int, name):
            raise AttributeError(f"'int' object has no attribute '{name}'")
        return lambda *args, **keywords: getattr(self._value(name), name)(*args, **keywords)

    def __invert__(self):
        return -self - 1

    def __lshift__(self, count):
        return self * 2**count if isinstance(count, int) else self._value("<<") << count

    def __rshift__(self, count):
        return self // 2**count if isinstance(count, int) else self._value(">>") >> count

    def __and__(self, mask):
        if isinstance(mask, int) and mask >= 0 and mask & (mask + 1) == 0:  # the low bits
            return self % (mask + 1)
        return self._value("&") & mask

    def __or__(self, other):
        return self._value("|") | other

    def __xor__(self, other):
        return self._value("^") ^ other

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __rlshift__(self, other):
        return other << self._value("<<")

    def __rrshift__(self, other):
        return other >> self._value(">>")

    def __repr__(self) -> str:
        return str(self.symbolic_size)

    def __format__(self, spec: str) -> str:
        """By the rule for reads: the text would be that of the example's size, and may be a key or a name. `str` and `repr` give the axis."""
        return str(self) if not spec and is_library_frame(1) else format(self._value("format"), spec)


def size_of(value) -> Size | None:
    """The size that an int, a SymbolicInt or a Dim stands for; None for anything else."""
    if isinstance(value, SymbolicInt):
        return value.symbolic_size
    if isinstance(value, Dim):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__") or hasattr(value, "_node") or getattr(value, "ndim", 0):
        return None
    return value.__index__()


def wrap(size: Size, recorder):
    """An int as it is, a symbolic size as a SymbolicInt."""
    return size if isinstance(size, int) else SymbolicInt(size, recorder)


def _arithmetic(function, swap: bool):
    def operator(self, other):
        size = size_of(other)
        if size is None:
            return _through_tensor(self, other, function, swap) if isinstance(other, float) else NotImplemented
        left, right = (size, self.symbolic_size) if swap else (self.symbolic_size, size)
        return wrap(function(left, right), self.recorder)
    return operator


def _through_tensor(size, other, function, swap):
    """A size together with a float is a tensor: its value is known only when the model runs."""
    from ..dialect.declare import REGISTRY
    from .dispatch import apply

    names = {symbolic.add: "add", symbolic.mul: "multiply", _subtract: "subtract", symbolic.floordiv: "floor_divide", symbolic.mod: "remainder"}
    return apply(REGISTRY[f"om.{names[function]}"], (other, size) if swap else (size, other), {})


def _tensor_of(size: SymbolicInt):
    """The size as a tensor that stands for a Python number."""
    from .ops.declared import as_tensor

    made = as_tensor(size)
    made._node.weak = True
    return made


def _subtract(left: Size, right: Size) -> Size:
    return symbolic.add(left, symbolic.mul(right, -1))


def _true_divide(swap: bool):
    def operator(self, other):
        from ..dialect.declare import REGISTRY
        from .dispatch import apply

        if size_of(other) is None and not isinstance(other, float):
            return NotImplemented
        return apply(REGISTRY["om.divide"], (other, self) if swap else (self, other), {})
    return operator


for _name, _function in {"add": symbolic.add, "sub": _subtract, "mul": symbolic.mul, "floordiv": symbolic.floordiv, "mod": symbolic.mod}.items():
    setattr(SymbolicInt, f"__{_name}__", _arithmetic(_function, False))
    setattr(SymbolicInt, f"__r{_name}__", _arithmetic(_function, True))
SymbolicInt.__truediv__, SymbolicInt.__rtruediv__ = _true_divide(False), _true_divide(True)
