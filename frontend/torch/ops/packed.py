"""Packed sequences: torch's ``pack_padded_sequence``, recurrent networks of packed sequences, ``pad_packed_sequence``.

A packed sequence has the rows of all sequences without the padding, step by step. What a network needs is the padded tensor with the lengths; both
are kept beside the packed rows, which are computed where the program uses them otherwise alone.
"""
from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Iterator

import numpy as np
import torch

from ... import ops
from ....dialect import symbolic
from ....dialect.declare import REGISTRY
from ....dialect.shapes import policy
from ....dialect.symbolic import Dim
from ....errors import OnemlirError, ShapeError
from ...dispatch import current_recorder
from ...locations import user_line
from ...ops.shape import slice_along
from ...size_rules import literal
from ...symbolic_int import size_of, wrap
from ...tensor import Tensor
from ..registry import handles
from ..sizes import from_sym_int, to_sym_int
from ..tensor import RecordedTensor, value_of
from .values import as_dtype


@handles("aten.select.int", kind="raw")
def select(recording, input, dim, index):
    """One element along an axis, as TorchScript asks for the first of the batch sizes, too."""
    if isinstance(input, BatchSizes) and index == 0:
        return input[0]
    return recording.call(torch.Tensor.select, (input, dim, index), {})


@dataclass(frozen=True)
class Packing:
    """Which steps of which sequence exist: `lengths` (batch,) and `mask` (steps, batch); `longest` is the size of the longest sequence."""

    lengths: Tensor
    mask: Tensor
    longest: object


class PackedRows(RecordedTensor):
    """The rows of a packed sequence, with the padded tensor (steps, batch, ...) that they were taken from."""

    padded: Tensor
    version: int
    zeroed: bool  # whether the padding is 0


class BatchSizes(RecordedTensor):
    """How many sequences have each step, with the packing that they follow from. The first is the size of the batch."""

    packing: Packing

    def __getitem__(self, key):
        if isinstance(key, int) and key == 0:
            batch = self.packing.mask.shape[1]
            return RecordedTensor(Tensor._wrap(np.asarray(batch))) if isinstance(batch, int) else to_sym_int(batch)
        return super().__getitem__(key)


@handles("_pack_padded_sequence", kind="raw")
def pack(recording, input, lengths, batch_first=False):
    """Rows and batch sizes of padded sequences, whose lengths do not increase, are at least 1 and at most the size of the padded axis."""
    padded, lengths = (value_of(recording.recorded(t)) for t in (input, lengths))
    if padded.ndim < 2:
        raise ShapeError(f"pack_padded_sequence: the input must be (steps, batch, ...), found {padded.ndim} axes, at {user_line()}")
    padded = ops.swapaxes(padded, 0, 1) if batch_first else padded
    steps, batch = padded.shape[:2]
    if lengths.ndim != 1 or isinstance(batch, int) and isinstance(lengths.shape[0], int) and lengths.shape[0] != batch:
        raise ShapeError(f"pack_padded_sequence: {batch} sequences need as many lengths, found shape {tuple(lengths.shape)}, at {user_line()}")
    _check(lengths, steps)
    mask = ops.expand_dims(ops.arange(steps), 1) < lengths
    packing = Packing(lengths, mask, _longest(lengths, steps))
    sizes = BatchSizes(slice_along(ops.sum(mask.astype("int64"), axis=1), 0, 0, size_of(packing.longest)))
    sizes.packing = packing
    return _rows(padded, packing), sizes


def _rows(padded: Tensor, packing: Packing, zeroed: bool = False) -> PackedRows:
    rows = PackedRows(padded[packing.mask])
    rows.padded, rows.version, rows.zeroed = padded, rows._place.cell.version, zeroed
    return rows


def _check(lengths: Tensor, steps) -> None:
    """Errors of torch: at once where the lengths are known, else when the model runs."""
    size = lengths.shape[0]
    pairs = [(ops.min(lengths), 1, ops.min(lengths) >= 1, "has length {found}; all lengths must be at least {expected}"),
             (ops.max(lengths), steps, ops.max(lengths) <= steps, "has length {found}, but the padded axis has size {expected}")]
    if not isinstance(size, int) or size > 1:
        falls = ops.max(ops.concat([lengths[1:] - lengths[:-1], ops.zeros((1,), lengths.dtype)], axis=0))
        pairs.append((falls, 0, falls <= 0, "is longer than the one before by {found}; sort by length, or give enforce_sorted=False"))
    for found, expected, holds, text in pairs:
        if not holds.is_recorded:
            if not holds.item():
                raise OnemlirError(f"pack_padded_sequence: a sequence {text.format(found=found.item(), expected=expected)}, at {user_line()}")
            continue
        message = f"pack_padded_sequence: a sequence {text}, at {literal(str(user_line()))}"
        current_recorder().apply(REGISTRY["om.guard"], [holds, found, expected], {"message": message, "kind": "GuardError"})


def _longest(lengths: Tensor, steps):
    """The size of the longest sequence, which is known to be at least 1 and at most `steps`."""
    if not lengths.is_recorded and isinstance(steps, int):
        return int(lengths._array.max())
    most = size_of(steps)
    clamped = ops.minimum(ops.maximum(ops.max(lengths), as_dtype(1, lengths.dtype)), as_dtype(steps, lengths.dtype))
    recorder = current_recorder()
    name = next(iter(symbolic.symbols_of(policy().fresh("steps")))).name
    found = Dim.symbol(name, minimum=1, maximum=most if isinstance(most, int) else None, anonymous=True)
    return wrap(symbolic.minimum(recorder.to_size(recorder._as_node(clamped), found), most), recorder)


def _padded(recording, data, packing: Packing) -> Tensor:
    """The padded tensor of packed rows, 0 where there are none."""
    rows = value_of(recording.recorded(data))
    if isinstance(data, PackedRows) and data.version == data._place.cell.version:
        return data.padded
    steps, batch = packing.mask.shape
    flat = ops.reshape(packing.mask, shape=(-1,))
    place = ops.maximum(ops.cumsum(flat.astype("int64"), axis=0) - 1, 0)
    full = ops.reshape(ops.gather(rows, place, axis=0), shape=(steps, batch, *rows.shape[1:]))
    return _where(packing.mask, full, 0)


def _where(mask: Tensor, x: Tensor, otherwise) -> Tensor:
    return ops.where(ops.expand_dims(mask, tuple(range(2, x.ndim))) if x.ndim > 2 else mask, x, as_dtype(otherwise, x.dtype))


def run_packed(recording, layers, data, sizes):
    """The packed result and the last states of `layers(padded, lengths)`."""
    packing = _packing("a recurrent network", sizes)
    y, *last = layers(_padded(recording, data, packing), packing.lengths)
    return (_rows(y, packing, zeroed=True), *map(RecordedTensor, last))


def _packing(what: str, sizes) -> Packing:
    if not isinstance(sizes, BatchSizes):
        raise OnemlirError(f"{what} of a packed sequence takes the batch sizes that pack_padded_sequence gave, at {user_line()}")
    return sizes.packing


@handles("_pad_packed_sequence", kind="raw")
def pad(recording, data, batch_sizes, batch_first, padding_value, total_length):
    """The padded tensor, as long as the longest sequence or `total_length`, and the lengths."""
    packing = _packing("pad_packed_sequence", batch_sizes)
    y = _padded(recording, data, packing)
    y = y if padding_value == 0 and getattr(data, "zeroed", True) else _where(packing.mask, y, padding_value)
    length, steps = size_of(from_sym_int(total_length)), size_of(y.shape[0])
    if symbolic.less_equal(length, steps):
        y = slice_along(y, 0, 0, length)
    else:
        more = symbolic.maximum(symbolic.add(length, symbolic.mul(steps, -1)), 0)
        y = ops.pad(y, [(0, wrap(more, current_recorder()))] + [(0, 0)] * (y.ndim - 1), constant_values=as_dtype(padding_value, y.dtype))
        y = slice_along(y, 0, 0, length)
    return RecordedTensor(ops.swapaxes(y, 0, 1) if batch_first else y), RecordedTensor(packing.lengths)


@contextlib.contextmanager
def batches_of_packed_sequences() -> Iterator[None]:
    """Recurrent networks take the size of a packed batch as it is, where they would make it an int."""
    network = torch.nn.RNNBase
    expected = network.get_expected_hidden_size

    def expected_hidden_size(self, input, batch_sizes):
        if not isinstance(batch_sizes, BatchSizes):
            return expected(self, input, batch_sizes)
        return self.num_layers * (2 if self.bidirectional else 1), to_sym_int(batch_sizes.packing.mask.shape[1]), self.proj_size or self.hidden_size

    network.get_expected_hidden_size = expected_hidden_size
    try:
        yield
    finally:
        network.get_expected_hidden_size = expected
