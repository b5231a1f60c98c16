"""Sizes of symbolic axes as Python sees them: integers that compute symbolically and know the example's value."""
from __future__ import annotations

from ..dialect import symbolic
from ..dialect.symbolic import Dim, Size


class SymbolicInt:
    """A size of a recording. Arithmetic stays symbolic; deciding on it or converting it follows the recording's rule for reads."""

    __slots__ = ("symbolic_size", "recorder")

    def __init__(self, size: Dim, recorder):
        self.symbolic_size = size
        self.recorder = recorder

    @property
    def example(self) -> int:
        """The value that the size has in the example."""
        return self.recorder.example_size(self.symbolic_size)

    def _decide(self, what: str, decided: bool | None, example: bool, condition: tuple) -> bool:
        return decided if decided is not None else self.recorder.read_size(what, example, condition)

    def __index__(self) -> int:
        return self.recorder.read_size("index", self.example, ("eq", self.symbolic_size, self.example))

    def __int__(self) -> int:
        return self.recorder.read_size("int", self.example, ("eq", self.symbolic_size, self.example))

    def __float__(self) -> float:
        return float(self.recorder.read_size("float", self.example, ("eq", self.symbolic_size, self.example)))

    def __bool__(self) -> bool:
        low, _ = symbolic.bounds(self.symbolic_size)
        return self._decide("bool", True if low is not None and low > 0 else None, self.example != 0, ("ne", self.symbolic_size, 0))

    def __eq__(self, other):
        other = size_of(other)
        if other is None:
            return NotImplemented
        same = self.example == self.recorder.example_size(other)
        return self._decide("==", symbolic.equal(self.symbolic_size, other), same, ("eq" if same else "ne", self.symbolic_size, other))

    def __ne__(self, other):
        result = self.__eq__(other)
        return result if result is NotImplemented else not result

    def __hash__(self) -> int:
        return hash(self.symbolic_size)

    def __le__(self, other):
        return self._compare(other, "<=", symbolic.less_equal(self.symbolic_size, size_of(other)), lambda a, b: a <= b)

    def __lt__(self, other):
        greater = symbolic.less_equal(size_of(other), self.symbolic_size)
        return self._compare(other, "<", None if greater is None else not greater, lambda a, b: a < b)

    def __ge__(self, other):
        return self._compare(other, ">=", symbolic.less_equal(size_of(other), self.symbolic_size), lambda a, b: a >= b)

    def __gt__(self, other):
        smaller = symbolic.less_equal(self.symbolic_size, size_of(other))
        return self._compare(other, ">", None if smaller is None else not smaller, lambda a, b: a > b)

    def _compare(self, other, sign: str, decided, function) -> bool:
        size = size_of(other)
        holds = function(self.example, self.recorder.example_size(size))
        left, right = self.symbolic_size, size
        condition = {("<=", True): ("le", left, right), ("<=", False): ("le", right + 1, left), ("<", True): ("le", left + 1, right),
                     ("<", False): ("le", right, left), (">=", True): ("le", right, left), (">=", False): ("le", left + 1, right),
                     (">", True): ("le", right + 1, left), (">", False): ("le", left, right)}[sign, holds]
        return self._decide(sign, decided, holds, condition)

    def __neg__(self):
        return wrap(symbolic.mul(self.symbolic_size, -1), self.recorder)

    def __repr__(self) -> str:
        return str(self.symbolic_size)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec) if not spec or spec[-1] == "s" else format(int(self), spec)


def size_of(value) -> Size | None:
    """The size that an int, a SymbolicInt or a Dim stands for; None for anything else."""
    if isinstance(value, SymbolicInt):
        return value.symbolic_size
    if isinstance(value, Dim):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__") or hasattr(value, "_node"):
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
