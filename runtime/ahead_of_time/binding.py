"""The checks of a run as LLVM IR: do the caller's tensors have the declared dtypes and shapes, and which sizes follow from them.

The functions take `tensors` (a pointer to each DLTensor, inputs first), and fill `pointers` (the data of each) and `sizes` (the dynamic
sizes in the order of the compiled code's table). `axes` holds the value of each named axis between the two.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Sequence

import numpy as np

from ...dialect.status import SizeCheck
from ..specs import Message, Spec
from .emitter import Function, plain_axis, size_value

DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
BFLOAT = 4
PREDICATES = {"om.equal": "eq", "om.not_equal": "ne", "om.less_equal": "sle"}
# Kinds of refusal that `om_check_tensor` gives, in order from 1.
REFUSALS = (
    "is a null pointer", "is not in the memory of the processor (kDLCPU)", "must have {axes}", "must have dtype {dtype}",
    "is not contiguous: its strides must be null or those of a row-major array",
    "has no data, or data that is not aligned to its elements", "has a negative size",
)  # fmt: skip


@dataclass
class Codes:
    """All status codes of a library with their messages: first those of the compiled code, then those of these checks."""

    messages: dict[int, Message] = field(default_factory=dict)

    def of(self, error: str, text: str) -> int:
        """The code of a message, a new one unless it has one."""
        return next((code for code, m in self.messages.items() if m == Message(error, text)), None) or self.add(error, text)

    def add(self, error: str, text: str) -> int:
        code = max(self.messages, default=0) + 1
        self.messages[code] = Message(error, text)
        return code


def dlpack_dtype(dtype: np.dtype) -> tuple[int, int, int]:
    """DLDataType: code, bits, lanes."""
    code = BFLOAT if dtype.name == "bfloat16" else DLPACK_CODES[dtype.kind]
    return code, 8 * dtype.itemsize, 1


def _dtype_word(dtype: np.dtype) -> int:
    code, bits, lanes = dlpack_dtype(dtype)
    return code | bits << 8 | lanes << 16


def _tensor_codes(codes: Codes, kind: str, spec: Spec) -> int:
    """The first of the codes for `REFUSALS`."""
    count = len(spec.sizes)
    words = {"axes": f"{count} ax{'i' if count == 1 else 'e'}s", "dtype": spec.dtype.name}
    errors = ["OnemlirError", "OnemlirError", "ShapeError", "DTypeError", "OnemlirError", "OnemlirError", "ShapeError"]
    return [codes.add(error, f"{kind} '{spec.name}' {text.format(**words)}") for error, text in zip(errors, REFUSALS)][0]


def axis_names(inputs: list[Spec]) -> list[str]:
    """Axes that an input has alone as a size, in order of appearance."""
    found = [plain_axis(size) for spec in inputs for size in spec.sizes]
    return list(dict.fromkeys(axis.name for axis in found if axis))


class Binding:
    """Writes `om_bind_inputs`, `om_output_sizes` and `om_bind_outputs`. checks: on sizes of inputs, made before any work."""

    def __init__(self, inputs: list[Spec], outputs: list[Spec], codes: Codes, checks: Sequence[SizeCheck] = ()):
        self.inputs, self.outputs, self.codes, self.checks = inputs, outputs, codes, checks
        self.axes = axis_names(inputs)
        self.size_slot: dict[tuple[int, int], int] = {}
        for tensor, spec in enumerate((*inputs, *outputs)):
            for axis, size in enumerate(spec.sizes):
                if not isinstance(size, int):
                    self.size_slot[tensor, axis] = len(self.size_slot)

    def text(self) -> str:
        return self.bind_inputs() + self.bind_outputs() + self.output_sizes()

    # Inputs
    def bind_inputs(self) -> str:
        code = Function("internal i32 @om_bind_inputs(ptr %tensors, ptr %pointers, ptr %sizes, ptr %axes, ptr %detail)")
        values: dict[str, str] = {}
        late = []
        for number, spec in enumerate(self.inputs):
            tensor = self._checked(code, number, spec, "input")
            shape = code.load("ptr", tensor, 3)
            for axis, size in enumerate(spec.sizes):
                found = code.load("i64", shape, axis)
                if (number, axis) in self.size_slot:
                    code.store(found, "%sizes", self.size_slot[number, axis])
                late += self._bind_axis(code, spec, axis, found, values)
        for spec, axis, found in late:
            self._compare(code, "input", spec, axis, found, values)
        for check in self.checks:
            self._require(code, check, values)
        for slot, name in enumerate(self.axes):
            code.store(values[name], "%axes", slot)
        return code.text()

    def _require(self, code: Function, check: SizeCheck, values: dict[str, str]) -> None:
        found, expected = (size_value(code, size, values) for size in (check.left, check.right))
        holds = code.value(f"icmp {PREDICATES[check.comparison]} i64 {found}, {expected}")
        code.require(holds, self.codes.of(check.kind, check.message), found, expected)

    def _checked(self, code: Function, number: int, spec: Spec, kind: str) -> str:
        """The tensor, after the checks that do not need other tensors; its data is in `pointers`."""
        tensor = code.load("ptr", "%tensors", number)
        first = _tensor_codes(self.codes, kind, spec)
        place = code.word_at("%pointers", number)
        arguments = f"ptr {tensor}, i32 {len(spec.sizes)}, i32 {_dtype_word(spec.dtype)}, i64 {spec.dtype.itemsize}, i32 {first}"
        code.return_nonzero(code.value(f"call i32 @om_check_tensor({arguments}, ptr {place}, ptr %detail)"))
        return tensor

    def _bind_axis(self, code: Function, spec: Spec, axis: int, found: str, values: dict[str, str]) -> list:
        """Take the size of a named axis, or compare; what needs all axes comes back."""
        symbol = plain_axis(spec.sizes[axis])
        if symbol is None:
            return [(spec, axis, found)]
        if symbol.name in values:
            text = f"axis {axis} of input '{spec.name}' must have the size that axis '{symbol.name}' has elsewhere"
            wanted = self.codes.add("ShapeError", text)
            code.require(code.value(f"icmp eq i64 {found}, {values[symbol.name]}"), wanted, found, values[symbol.name], axis)
        values.setdefault(symbol.name, found)
        self._check_range(code, spec, axis, found, symbol)
        return []

    def _check_range(self, code: Function, spec: Spec, axis: int, found: str, symbol) -> None:
        what = f"axis {axis} ('{symbol.name}') of input '{spec.name}' must be"
        if symbol.minimum > 0:
            number = self.codes.add("ShapeError", f"{what} at least {symbol.minimum}")
            code.require(code.value(f"icmp sge i64 {found}, {symbol.minimum}"), number, found, str(symbol.minimum), axis)
        if symbol.maximum is not None:
            number = self.codes.add("ShapeError", f"{what} at most {symbol.maximum}")
            code.require(code.value(f"icmp sle i64 {found}, {symbol.maximum}"), number, found, str(symbol.maximum), axis)
        if symbol.multiple_of > 1:
            number = self.codes.add("ShapeError", f"{what} a multiple of {symbol.multiple_of}")
            rest = code.value(f"srem i64 {found}, {symbol.multiple_of}")
            code.require(code.value(f"icmp eq i64 {rest}, 0"), number, found, str(symbol.multiple_of), axis)

    def _compare(self, code: Function, kind: str, spec: Spec, axis: int, found: str, values: dict[str, str]) -> None:
        size = spec.sizes[axis]
        try:
            wanted = size_value(code, size, values)
        except KeyError:
            return  # names an axis that no input has alone
        number = self.codes.add("ShapeError", f"axis {axis} of {kind} '{spec.name}' must be {size}")
        code.require(code.value(f"icmp eq i64 {found}, {wanted}"), number, found, wanted, axis)

    # Outputs
    def _axis_values(self, code: Function) -> dict[str, str]:
        return {name: code.load("i64", "%axes", slot) for slot, name in enumerate(self.axes)}

    def bind_outputs(self) -> str:
        """Destinations that have data are checked; the others are allocated, or left to the compiled code."""
        parts = []
        passed = "ptr %tensors, ptr %pointers, ptr %sizes, ptr %axes, ptr %owned, ptr %detail"
        code = Function("internal i32 @om_bind_outputs(ptr %tensors, ptr %pointers, ptr %sizes, ptr %axes, ptr %owned, ptr %detail)")
        for position, spec in enumerate(self.outputs):
            head = f"internal i32 @om_bind_output_{position}(ptr %tensors, ptr %pointers, ptr %sizes, ptr %axes, ptr %owned, ptr %detail)"
            parts.append(self._bind_output(position, spec, head))
            code.return_nonzero(code.value(f"call i32 @om_bind_output_{position}({passed})"))
        return "".join(parts) + code.text()

    def _bind_output(self, position: int, spec: Spec, head: str) -> str:
        number = len(self.inputs) + position
        code = Function(head)
        tensor = code.load("ptr", "%tensors", number)
        first = _tensor_codes(self.codes, "output", spec)
        unset = code.value(f"call i1 @om_without_data(ptr {tensor})")
        code.line(f"br i1 {unset}, label %allocate, label %given")
        code.lines.append("allocate:")
        place = code.word_at("%owned", position)
        described = f"ptr {tensor}, i32 {len(spec.sizes)}, i32 {_dtype_word(spec.dtype)}, i32 {first}, ptr %detail"
        code.return_nonzero(code.value(f"call i32 @om_check_described({described})"))
        code.line(f"store i64 1, ptr {place}")
        if spec.data_dependent:
            code.line("ret i32 0")
            code.lines.append("given:")
            code.require("false", self.codes.add("OnemlirError", f"output '{spec.name}' is allocated by the run: its data must be null"))
            return code.text()
        self._allocate(code, number, spec, tensor)
        code.lines.append("given:")
        tensor = self._checked_again(code, number, spec, first)
        shape = code.load("ptr", tensor, 3)
        values = self._axis_values(code)
        for axis, size in enumerate(spec.sizes):
            found = code.load("i64", shape, axis)
            if (number, axis) in self.size_slot:
                code.store(found, "%sizes", self.size_slot[number, axis])
            self._compare(code, "output", spec, axis, found, values)
        return code.text()

    def _checked_again(self, code: Function, number: int, spec: Spec, first: int) -> str:
        tensor = code.load("ptr", "%tensors", number)
        place = code.word_at("%pointers", number)
        arguments = f"ptr {tensor}, i32 {len(spec.sizes)}, i32 {_dtype_word(spec.dtype)}, i64 {spec.dtype.itemsize}, i32 {first}"
        code.return_nonzero(code.value(f"call i32 @om_check_tensor({arguments}, ptr {place}, ptr %detail)"))
        return tensor

    def _allocate(self, code: Function, number: int, spec: Spec, tensor: str) -> None:
        shape = code.load("ptr", tensor, 3)
        values = self._axis_values(code)
        bytes_needed = str(spec.dtype.itemsize)
        for axis, size in enumerate(spec.sizes):
            value = size_value(code, size, values)
            self._not_negative(code, spec, axis, value)
            code.store(value, shape, axis)
            if (number, axis) in self.size_slot:
                code.store(value, "%sizes", self.size_slot[number, axis])
            bytes_needed = code.value(f"mul i64 {bytes_needed}, {value}")
        memory = code.value(f"call ptr @om_output_memory(i64 {bytes_needed})")
        code.require(code.value(f"icmp ne ptr {memory}, null"), -1, bytes_needed)
        code.store(memory, "%pointers", number, "ptr")
        code.line("ret i32 0")

    def _not_negative(self, code: Function, spec: Spec, axis: int, value: str) -> None:
        if not value.isdigit():
            number = self.codes.of("ShapeError", f"axis {axis} of output '{spec.name}' would be negative: the inputs are too small")
            code.require(code.value(f"icmp sge i64 {value}, 0"), number, value, "0", axis)

    def output_sizes(self) -> str:
        """Shapes of the outputs, one after the other; -1 where a size depends on data."""
        code = Function("internal i32 @om_output_sizes(ptr %axes, ptr %shapes, ptr %detail)")
        values = self._axis_values(code)
        place = 0
        for spec in self.outputs:
            for axis, size in enumerate(spec.sizes):
                known = isinstance(size, int) or all(s.name in values for s in size.symbols())
                value = size_value(code, size, values) if known else "-1"
                if known:
                    self._not_negative(code, spec, axis, value)
                code.store(value, "%shapes", place)
                place += 1
        return code.text()
