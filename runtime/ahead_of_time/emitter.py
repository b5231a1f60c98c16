"""Building the text of LLVM IR: functions with numbered values and checks, constant strings and tables."""
from __future__ import annotations

from typing import Sequence

from ...dialect.symbolic import Call, Dim, Size, Symbol


class Function:
    """The body of a function that returns i32: straight code with early returns."""

    def __init__(self, head: str):
        self.head = head
        self.lines: list[str] = []
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def value(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def word_at(self, base: str, index: int) -> str:
        """Address of the 64-bit word `index` after `base`."""
        return self.value(f"getelementptr i64, ptr {base}, i64 {index}")

    def load(self, type: str, base: str, index: int) -> str:
        return self.value(f"load {type}, ptr {self.word_at(base, index)}")

    def store(self, value: str, base: str, index: int, type: str = "i64") -> None:
        self.line(f"store {type} {value}, ptr {self.word_at(base, index)}")

    def require(self, condition: str, code: int, found: str = "0", expected: str = "0", index: int = 0) -> None:
        """Return `code` with these values in the detail record unless the condition holds."""
        self.count += 1
        number = self.count
        self.lines += [
            f"  br i1 {condition}, label %good{number}, label %bad{number}, !prof !0",
            f"bad{number}:",
            f"  call void @om_note(ptr %detail, i32 {code}, i64 {found}, i64 {expected}, i64 {index})",
            f"  ret i32 {code}",
            f"good{number}:",
        ]

    def return_nonzero(self, code: str) -> None:
        """Return the status when it is not 0."""
        self.count += 1
        number = self.count
        zero = self.value(f"icmp eq i32 {code}, 0")
        branch = f"  br i1 {zero}, label %good{number}_, label %bad{number}_, !prof !0"
        self.lines += [branch, f"bad{number}_:", f"  ret i32 {code}", f"good{number}_:"]

    def text(self, result: str = "ret i32 0") -> str:
        body = "\n".join(self.lines)
        return f"define {self.head} {{\n{body}\n  {result}\n}}\n"


def size_value(code: Function, size: Size, axes: dict[str, str]) -> str:
    """A symbolic size as an i64, given the values of the axes. KeyError names an axis that has none."""
    if isinstance(size, int):
        return str(size)
    total = "0"
    for monomial, factor in size.terms.items():
        term = str(factor)
        for atom in monomial:
            term = code.value(f"mul i64 {term}, {_atom(code, atom, axes)}")
        total = code.value(f"add i64 {total}, {term}")
    return total


def _atom(code: Function, atom: Symbol | Call, axes: dict[str, str]) -> str:
    if isinstance(atom, Symbol):
        return axes[atom.name]
    left, right = size_value(code, atom.left, axes), size_value(code, atom.right, axes)
    function = {"min": "llvm.smin.i64", "max": "llvm.smax.i64"}.get(atom.function, f"om_{atom.function}")
    return code.value(f"call i64 @{function}(i64 {left}, i64 {right})")


def plain_axis(size: Size) -> Symbol | None:
    """The axis where a size is just that."""
    if not isinstance(size, Dim) or len(size.terms) != 1:
        return None
    (monomial, factor), = size.terms.items()
    return monomial[0] if factor == 1 and len(monomial) == 1 and isinstance(monomial[0], Symbol) else None


class Constants:
    """Strings and tables, each content once."""

    def __init__(self):
        self.names: dict[str, str] = {}
        self.lines: list[str] = []

    def string(self, text: str) -> str:
        if text not in self.names:
            name = self.names[text] = f"@om_text_{len(self.names)}"
            data = text.encode() + b"\0"
            self.lines.append(f"{name} = private unnamed_addr constant [{len(data)} x i8] c\"{_escaped(data)}\"")
        return self.names[text]

    def table(self, name: str, type: str, values: Sequence[str]) -> str:
        """A constant array; one element at least, so that its address is valid."""
        values = list(values) or ["null" if type == "ptr" else "zeroinitializer"]
        listed = ", ".join(f"{type} {v}" for v in values)
        self.lines.append(f"@{name} = internal constant [{len(values)} x {type}] [{listed}]")
        return f"@{name}"

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def _escaped(data: bytes) -> str:
    return "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in data)
