"""Symbolic sizes: integer polynomials over named axes, with floor division, remainder, min and max as further atoms.

A size is an ``int`` or a `Dim`; arithmetic gives an ``int`` whenever the result is constant, so two sizes that are known to be
equal compare equal. Every axis is at least `Symbol.minimum` (0 unless declared), which decides most comparisons.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import ceil, floor, gcd
from typing import Callable, Mapping, Union


@dataclass(frozen=True, order=True)
class Symbol:
    """A named axis. Two symbols are the same when their names are."""

    name: str
    minimum: int = field(default=0, compare=False)
    maximum: int | None = field(default=None, compare=False)
    multiple_of: int = field(default=1, compare=False)
    anonymous: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Call:
    """An atom that is no axis: a `function` (floordiv, mod, min, max, broadcast) of two sizes."""

    function: str
    left: "Size"
    right: "Size"

    def __str__(self) -> str:
        if self.function in ("min", "max", "broadcast"):
            return f"{self.function}({self.left}, {self.right})"
        sign = "//" if self.function == "floordiv" else "%"
        return f"({self.left}) {sign} ({self.right})" if isinstance(self.right, Dim) else f"({self.left}) {sign} {self.right}"


Size = Union[int, "Dim"]
Monomial = tuple  # of atoms, sorted by their text


class Dim:
    """A size that is not a constant: a sum of integer multiples of products of atoms. Immutable and hashable."""

    __slots__ = ("terms", "_hash", "_shown")

    def __init__(self, terms: Mapping[Monomial, int]):
        self.terms = dict(terms)
        self._hash = hash(frozenset(self.terms.items()))
        self._shown: str | None = None  # the text, once it was asked for: those of nested sizes are parts of it

    @staticmethod
    def symbol(name: str, **ranges) -> "Dim":
        return Dim({(Symbol(name, **ranges),): 1})

    def __reduce__(self):
        return Dim, (self.terms,)  # a hash of texts is another one in another process

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other) -> bool:
        return isinstance(other, Dim) and self.terms == other.terms

    def __repr__(self) -> str:
        return f"Dim({self})"

    def __str__(self) -> str:
        if self._shown is None:
            self._shown = self._written()
        return self._shown

    def _written(self) -> str:
        parts = []
        for monomial, factor in sorted(self.terms.items(), key=lambda item: (-len(item[0]), _text(item[0]))):
            text = _text(monomial)
            shown = str(factor) if not monomial else text if factor == 1 else f"-{text}" if factor == -1 else f"{factor}*{text}"
            parts.append(shown)
        return " + ".join(parts).replace("+ -", "- ")

    # Arithmetic. Each returns an int when the result is constant.
    def __add__(self, other: Size) -> Size:
        return add(self, other)

    def __radd__(self, other: Size) -> Size:
        return add(other, self)

    def __sub__(self, other: Size) -> Size:
        return add(self, mul(other, -1))

    def __rsub__(self, other: Size) -> Size:
        return add(other, mul(self, -1))

    def __neg__(self) -> Size:
        return mul(self, -1)

    def __mul__(self, other: Size) -> Size:
        return mul(self, other)

    def __rmul__(self, other: Size) -> Size:
        return mul(other, self)

    def __floordiv__(self, other: Size) -> Size:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Size) -> Size:
        return floordiv(other, self)

    def __mod__(self, other: Size) -> Size:
        return mod(self, other)

    def __rmod__(self, other: Size) -> Size:
        return mod(other, self)

    def symbols(self) -> set[Symbol]:
        """All axes that the size depends on."""
        found: set[Symbol] = set()
        for monomial in self.terms:
            for atom in monomial:
                if isinstance(atom, Symbol):
                    found.add(atom)
                else:
                    found |= symbols_of(atom.left) | symbols_of(atom.right)
        return found

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """The value for given sizes of the axes, by name. KeyError names an axis that is missing."""
        return evaluate(self, lambda symbol: sizes[symbol.name])


def symbols_of(size: Size) -> set[Symbol]:
    return size.symbols() if isinstance(size, Dim) else set()


def _text(monomial: Monomial) -> str:
    return "*".join(f"({atom})" if isinstance(atom, Call) and atom.function in ("floordiv", "mod") else str(atom) for atom in monomial)


def _terms(size: Size) -> dict[Monomial, int]:
    if isinstance(size, Dim):
        return size.terms
    return {(): int(size)} if size else {}


def _size(terms: Mapping[Monomial, int]) -> Size:
    terms = {monomial: factor for monomial, factor in terms.items() if factor}
    if any(_is_unit(atom) for monomial in terms for atom in monomial):
        terms = _of_axes(_in_units(terms))
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Dim(terms)


# An axis h that is a multiple of 4 is 4 * u with the unit u = h // 4, so that quotients of it are exact: h // 2 = 2 * u, and 4 * u = h again.
def _unit(axis: Symbol) -> Call:
    return Call("floordiv", Dim({(axis,): 1}), axis.multiple_of)


def _is_unit(atom) -> bool:
    if not isinstance(atom, Call) or atom.function != "floordiv" or not isinstance(atom.left, Dim) or len(atom.left.terms) != 1:
        return False
    (monomial, factor), = atom.left.terms.items()
    return factor == 1 and len(monomial) == 1 and isinstance(monomial[0], Symbol) and monomial[0].multiple_of == atom.right > 1


def _rewritten(terms: Mapping[Monomial, int], rewrite: Callable) -> dict[Monomial, int]:
    """Terms whose atoms are rewritten one by one: `rewrite(atom, factor)` gives another atom and another factor of the term."""
    result: dict[Monomial, int] = {}
    for monomial, factor in terms.items():
        atoms = []
        for atom in monomial:
            atom, factor = rewrite(atom, factor)
            atoms.append(atom)
        key = tuple(sorted(atoms, key=str))
        result[key] = result.get(key, 0) + factor
    return {monomial: factor for monomial, factor in result.items() if factor}


def _in_units(terms: Mapping[Monomial, int]) -> dict[Monomial, int]:
    """Terms with units for the axes that are multiples."""
    return _rewritten(terms, lambda atom, factor: (_unit(atom), factor * atom.multiple_of) if isinstance(atom, Symbol) and atom.multiple_of > 1
                      else (atom, factor))


def _of_axes(units: Mapping[Monomial, int]) -> dict[Monomial, int]:
    """Terms in units with axes where they divide: the one form of equal sizes."""
    def rewrite(atom, factor):
        if _is_unit(atom) and factor % atom.right == 0:
            return next(iter(atom.left.terms))[0], factor // atom.right
        return atom, factor
    return _rewritten(units, rewrite)


def add(left: Size, right: Size) -> Size:
    terms = dict(_terms(left))
    for monomial, factor in _terms(right).items():
        terms[monomial] = terms.get(monomial, 0) + factor
    return _size(terms)


def mul(left: Size, right: Size) -> Size:
    terms: dict[Monomial, int] = {}
    for a, x in _terms(left).items():
        for b, y in _terms(right).items():
            monomial = tuple(sorted(a + b, key=str))
            terms[monomial] = terms.get(monomial, 0) + x * y
    return _size(terms)


def product(sizes) -> Size:
    return reduce(mul, sizes, 1)


def _order(monomial: Monomial):
    return (len(monomial), tuple(str(atom) for atom in monomial))


def _exact_quotient(left: Size, right: Size) -> Size | None:
    """left / right as a polynomial when the division leaves nothing, else None."""
    divisor = _in_units(_terms(right))
    lead = max(divisor, key=_order)
    quotient: Size = 0
    rest = left
    for _ in range(64):
        if rest == 0:
            return quotient
        terms = _in_units(_terms(rest))
        top = max(terms, key=_order)
        remaining = list(top)
        for atom in lead:
            if atom not in remaining:
                return None
            remaining.remove(atom)
        if terms[top] % divisor[lead]:
            return None
        step = _size({tuple(remaining): terms[top] // divisor[lead]})
        quotient = add(quotient, step)
        rest = add(rest, mul(mul(step, right), -1))
    return None


def floordiv(left: Size, right: Size) -> Size:
    """floor(left / right). By a positive constant it is brought into a normal form, so that equal sizes are often the same terms."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    if right == 1 or left == 0:
        return left
    exact = _exact_quotient(left, right)
    if exact is not None:
        return exact
    if isinstance(right, int) and right > 0:
        return _quotient(left, right)
    return Dim({(Call("floordiv", left, right),): 1})


def _quotient(left: Size, right: int) -> Size:
    """floor(left / right) for a positive constant."""
    terms = _in_units(_terms(left))
    whole = _size({m: f // right for m, f in terms.items()})  # (8*n + r) // 4 = 2*n + r // 4
    if whole != 0:
        return add(whole, floordiv(_size({m: f % right for m, f in terms.items()}), right))
    varying = {m: f for m, f in terms.items() if m}
    constant = terms.get((), 0)
    common = gcd(right, *varying.values())
    if common > 1:  # (2*n + 1) // 4 = n // 2
        return floordiv(_size({m: f // common for m, f in varying.items()} | {(): constant // common}), right // common)
    if constant == right - 1:  # the quotient rounded up: -(-n // 4)
        return mul(floordiv(mul(_size(varying), -1), right), -1)
    inner = _single_quotient(varying)
    if inner is not None:  # (n // 2 + 1) // 3 = (n + 2) // 6
        left, right = add(inner.left, constant * inner.right), inner.right * right
        if not _is_unit(inner):
            return floordiv(left, right)
    low, high = bounds(left)
    if high is not None and low is not None and low // right == high // right:
        return low // right
    return Dim({(Call("floordiv", left, right),): 1})


def _single_quotient(terms: dict[Monomial, int]) -> Call | None:
    """The one floordiv by a constant that terms consist of."""
    (monomial, factor), *rest = terms.items()
    atom = monomial[0]
    found = not rest and factor == 1 and len(monomial) == 1 and isinstance(atom, Call) and atom.function == "floordiv"
    return atom if found and isinstance(atom.right, int) and atom.right > 0 else None


def mod(left: Size, right: Size) -> Size:
    """left - right * floor(left / right)."""
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    if right == 1 or left == 0 or _exact_quotient(left, right) is not None:
        return 0
    if isinstance(right, int) and right > 0:
        if all((f * _multiple(m)) % right == 0 for m, f in _terms(left).items()):
            return 0
        return add(left, mul(floordiv(left, right), -right))
    return Dim({(Call("mod", left, right),): 1})


def _multiple(monomial: Monomial) -> int:
    return reduce(lambda x, y: x * y, (atom.multiple_of for atom in monomial if isinstance(atom, Symbol)), 1)


def minimum(left: Size, right: Size) -> Size:
    return _extreme("min", left, right)


def maximum(left: Size, right: Size) -> Size:
    return _extreme("max", left, right)


def _extreme(function: str, left: Size, right: Size) -> Size:
    smaller = less_equal(left, right)
    if smaller is None and less_equal(right, left):
        smaller = False
    if smaller is not None:
        return left if smaller == (function == "min") else right
    if str(right) < str(left):
        left, right = right, left
    return Dim({(Call(function, left, right),): 1})


def broadcast(left: Size, right: Size) -> Size:
    """The size that two axes broadcast to when it is not known which of them is 1."""
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    if isinstance(left, int) or isinstance(right, int):
        return left if isinstance(left, int) else right
    if str(right) < str(left):
        left, right = right, left
    return Dim({(Call("broadcast", left, right),): 1})


def bounds(size: Size) -> tuple[int | None, int | None]:
    """The least and greatest value that the declared ranges of the axes allow; None where there is no bound."""
    if isinstance(size, int):
        return size, size
    low, high = _term_bounds(size.terms)
    if any(_single_quotient({monomial: 1}) for monomial in size.terms if monomial):
        least, most = _term_bounds(_without_quotients(size.terms))
        low = least if low is None else low if least is None else max(low, least)
        high = most if high is None else high if most is None else min(high, most)
    return None if low is None else ceil(low), None if high is None else floor(high)


def _term_bounds(terms: Mapping[Monomial, int | Fraction]):
    """Bounds of a sum from the bounds of its terms."""
    low: int | Fraction | None = 0
    high: int | Fraction | None = 0
    for monomial, factor in terms.items():
        least, most = _monomial_bounds(monomial)
        if factor < 0:
            least, most = most, least
        low = None if low is None or least is None else low + factor * least
        high = None if high is None or most is None else high + factor * most
    return low, high


def _without_quotients(terms: Mapping[Monomial, int | Fraction]) -> dict[Monomial, int | Fraction]:
    """Terms with a // c written as (a - r) / c, where the remainder r is an axis between 0 and c - 1."""
    result: dict[Monomial, int | Fraction] = {}
    expanded: dict[Monomial, int | Fraction] = {}
    for monomial, factor in terms.items():
        quotient = _single_quotient({monomial: 1}) if monomial else None
        if quotient is None:
            result[monomial] = result.get(monomial, 0) + factor
            continue
        remainder = Symbol(f"?remainder of {quotient}", maximum=0 if _is_unit(quotient) else quotient.right - 1)
        for part, scale in [*_terms(quotient.left).items(), ((remainder,), -1)]:
            expanded[part] = expanded.get(part, 0) + Fraction(factor * scale) / quotient.right
    for monomial, factor in (_without_quotients(expanded) if expanded else {}).items():
        result[monomial] = result.get(monomial, 0) + factor
    return {monomial: factor for monomial, factor in result.items() if factor}


def _monomial_bounds(monomial: Monomial) -> tuple[int | None, int | None]:
    least: int | None = 1
    most: int | None = 1
    for atom in monomial:
        low, high = _atom_bounds(atom)
        if low is None or low < 0:
            return None, None
        least = least * low
        most = None if most is None or high is None else most * high
    return least, most


def _atom_bounds(atom) -> tuple[int | None, int | None]:
    if isinstance(atom, Symbol):
        return atom.minimum, atom.maximum
    left, right = bounds(atom.left), bounds(atom.right)
    if atom.function == "mod":
        return 0, None if right[1] is None else right[1] - 1
    if atom.function == "floordiv" and right[0] is not None and right[0] > 0 and left[0] is not None and left[0] >= 0:
        return (0 if right[1] is None else left[0] // right[1]), (None if left[1] is None else left[1] // right[0])
    if atom.function == "min":
        lows, highs = [left[0], right[0]], [h for h in (left[1], right[1]) if h is not None]
        return (None if None in lows else min(lows)), (min(highs) if highs else None)
    if atom.function in ("max", "broadcast"):
        lows, highs = [x for x in (left[0], right[0]) if x is not None], [left[1], right[1]]
        low = (max if atom.function == "max" else min)(lows) if lows else None
        return low, (None if None in highs else max(highs))
    return None, None


def less_equal(left: Size, right: Size) -> bool | None:
    """Whether left <= right for all sizes of the axes; None when it depends on them."""
    difference = add(right, mul(left, -1))
    low, high = bounds(difference)
    if low is not None and low >= 0 or _bounded_by_an_argument(difference):
        return True
    return False if high is not None and high < 0 else None


def _bounded_by_an_argument(size: Size) -> bool:
    """Whether a size is at least 0 since min(a, b) is at most a and b, and max(a, b) at least."""
    for monomial, factor in _terms(size).items():
        (atom, *rest) = monomial or (None,)
        if not rest and isinstance(atom, Call) and atom.function == ("max" if factor > 0 else "min"):
            others = _size({m: f for m, f in _terms(size).items() if m != monomial})
            for argument in (atom.left, atom.right):
                low, _ = bounds(add(others, mul(argument, factor)))
                if low is not None and low >= 0:
                    return True
    return False


def equal(left: Size, right: Size) -> bool | None:
    """Whether left == right for all sizes of the axes; None when it depends on them."""
    if left == right:
        return True
    low, high = bounds(add(left, mul(right, -1)))
    return False if (low is not None and low > 0) or (high is not None and high < 0) else None


FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "min": min,
    "max": max,
    "broadcast": lambda a, b: b if a == 1 else a,
}


def evaluate(size: Size, value_of: Callable[[Symbol], int]) -> int:
    """The size as an int, given the value of each axis."""
    if isinstance(size, int):
        return size
    total = 0
    for monomial, factor in size.terms.items():
        for atom in monomial:
            if isinstance(atom, Symbol):
                factor *= value_of(atom)
            else:
                factor *= FUNCTIONS[atom.function](evaluate(atom.left, value_of), evaluate(atom.right, value_of))
        total += factor
    return total


def substitute(size: Size, replacement: Mapping[str, Size]) -> Size:
    """The size with axes replaced by other sizes, simplified again."""
    if isinstance(size, int):
        return size
    apply = {"floordiv": floordiv, "mod": mod, "min": minimum, "max": maximum, "broadcast": broadcast}
    total: Size = 0
    for monomial, factor in size.terms.items():
        term: Size = factor
        for atom in monomial:
            if isinstance(atom, Symbol):
                term = mul(term, replacement.get(atom.name, Dim({(atom,): 1})))
            else:
                term = mul(term, apply[atom.function](substitute(atom.left, replacement), substitute(atom.right, replacement)))
        total = add(total, term)
    return total
