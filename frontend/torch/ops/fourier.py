"""Fourier transforms: torch.fft, stft and istft. Complex results are pairs of recorded tensors, see `complex_tensor`."""
from __future__ import annotations

import math

import torch

from ... import ops
from ....errors import OnemlirError
from ...ops import fourier
from ...ops.declared import as_tensor
from ...symbolic_int import size_of
from ...tensor import Tensor
from ..complex_tensor import of_complex, parts_of, RecordedComplex
from ..dtypes import default_float, is_floating, to_numpy_dtype
from ..registry import handles
from ..sizes import from_sym_int
from ..tensor import RecordedTensor, value_of

ATEN_NORMS = {0: None, 1: "ortho", 2: "forward"}  # of _fft_r2c and its like


def _parts(recording, input) -> tuple:
    """Our tensors of the real part and, of a complex tensor, of the imaginary one; integers as the default float."""
    found = [None if p is None else value_of(recording.recorded(p)) for p in parts_of(recording, input)]
    dtype = found[0].dtype if is_floating(found[0].dtype) else default_float()
    return tuple(None if p is None else p.astype(dtype) for p in found)


def _complex(parts) -> RecordedComplex:
    return RecordedComplex(*map(RecordedTensor, parts))


def _scale(norm, length, inverse: bool):
    """The factor of a transform; torch's `norm`: "backward" divides the inverse by the length, "forward" the other, "ortho" both by its root."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise OnemlirError(f"fft: norm must be 'backward', 'ortho' or 'forward', found {norm!r}")
    if (norm == "forward") == inverse and norm != "ortho":
        return 1.0
    share = fourier.part_of(length)
    return share if norm != "ortho" else math.sqrt(share) if isinstance(share, float) else ops.sqrt(share)


def _one(recording, input, n, dim, norm, inverse: bool, half: bool) -> RecordedComplex:
    """fft, ifft and rfft."""
    parts = _parts(recording, input)
    length = size_of(parts[0].shape[dim] if n is None else recording.to_ours(n))
    count = length // 2 + 1 if half else length
    return _complex(fourier.transform(parts, dim % parts[0].ndim, length, inverse, count, _scale(norm, length, inverse)))


def _real(recording, input, n, dim, norm, inverse: bool = True) -> RecordedTensor:
    """irfft and hfft."""
    real, imaginary = _parts(recording, input)
    imaginary = ops.zeros_like(real) if imaginary is None else imaginary
    length = (size_of(real.shape[dim]) - 1) * 2 if n is None else size_of(recording.to_ours(n))
    imaginary = imaginary if inverse else -imaginary
    return RecordedTensor(fourier.real_inverse((real, imaginary), dim % real.ndim, length, _scale(norm, length, inverse)))


def _register(name: str, function) -> None:
    handles(name, kind="raw")(function)
    of_complex(name)(function)


_register("fft_fft", lambda recording, input, n=None, dim=-1, norm=None, out=None: _one(recording, input, n, dim, norm, False, False))
_register("fft_ifft", lambda recording, input, n=None, dim=-1, norm=None, out=None: _one(recording, input, n, dim, norm, True, False))
_register("fft_rfft", lambda recording, input, n=None, dim=-1, norm=None, out=None: _one(recording, input, n, dim, norm, False, True))
_register("fft_irfft", lambda recording, input, n=None, dim=-1, norm=None, out=None: _real(recording, input, n, dim, norm))
_register("fft_hfft", lambda recording, input, n=None, dim=-1, norm=None, out=None: _real(recording, input, n, dim, norm, inverse=False))


def _axes(input, s, dim) -> list[tuple]:
    """(size or None, axis) of each axis of a transform of several."""
    rank = input.dim()
    axes = [d % rank for d in ((dim,) if isinstance(dim, int) else dim)] if dim is not None else list(range(rank))[-len(s) if s is not None else 0:]
    wanted = [None] * len(axes) if s is None else [None if isinstance(n, int) and n == -1 else n for n in s]
    if len(wanted) != len(axes) or len(set(axes)) != len(axes):
        raise OnemlirError(f"fft: as many sizes as axes, and different axes, are expected; found s={s} and dim={dim}")
    return list(zip(wanted, axes))


def _several(kind: str):
    """Transforms of several axes, one after the other; the last one is the real one."""
    def handler(recording, input, s=None, dim=None, norm=None, out=None):
        *others, (n, axis) = _axes(input, s, dim)
        if kind == "rfft":
            input = _one(recording, input, n, axis, norm, False, True)
        elif kind != "irfft":
            input = _one(recording, input, n, axis, norm, kind == "ifft", False)
        for size, other in reversed(others):
            input = _one(recording, input, size, other, norm, kind in ("ifft", "irfft"), False)
        return _real(recording, input, n, axis, norm) if kind == "irfft" else input
    return handler


def _plane(kind: str):
    several = _several(kind)
    return lambda recording, input, s=None, dim=(-2, -1), norm=None, out=None: several(recording, input, s, dim, norm)


for _kind in ("fft", "ifft", "rfft", "irfft"):
    _register(f"fft_{_kind}n", _several(_kind))
    _register(f"fft_{_kind}2", _plane(_kind))


def _by_number(kind: str):
    """ATen's own transforms, to which torch reduces the others: several axes, the norm as a number."""
    def handler(recording, input, dim, normalization, last, out=None):
        forward = kind == "r2c" or kind == "c2c" and last
        wanted = {0: 1.0, 1: "ortho", 2: "by_n"}[normalization]
        norm = "ortho" if wanted == "ortho" else ("forward" if forward else None) if wanted == "by_n" else (None if forward else "forward")
        *others, axis = [d % input.dim() for d in dim]
        if kind == "r2c":
            input = _one(recording, input, None, axis, norm, False, bool(last))
        elif kind == "c2c":
            input = _one(recording, input, None, axis, norm, not forward, False)
        for other in reversed(others):
            input = _one(recording, input, None, other, norm, not forward, False)
        return _real(recording, input, last, axis, norm) if kind == "c2r" else input
    return handler


for _kind in ("r2c", "c2c", "c2r"):
    _register(f"_fft_{_kind}", _by_number(_kind))


def _shifted(sign: int):
    def handler(input, dim=None):
        axes = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
        half = lambda n: n // 2 if sign > 0 else (n + 1) // 2
        for axis in axes:
            input = ops.roll(input, half(input.shape[axis]), axis)
        return input
    return handler


handles("fft_fftshift")(_shifted(1))
handles("fft_ifftshift")(_shifted(-1))


def _frequencies(half: bool):
    def handler(n, d=1.0, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, out=None):
        dtype = default_float() if dtype is None else to_numpy_dtype(dtype)
        places = ops.arange(n // 2 + 1 if half else n).astype(dtype)
        if not half:
            length = as_tensor(n).astype(dtype)
            places = ops.where(places * 2 < length, places, places - length)
        return places / (as_tensor(n).astype(dtype) * float(d))
    return handler


handles("fft_fftfreq")(_frequencies(False))
handles("fft_rfftfreq")(_frequencies(True))


# Short-time transforms.
def _window(recording, window, length: int, n_fft: int, dtype) -> Tensor | None:
    """The window in the middle of n_fft points; None where it is 1 throughout."""
    if window is None and length == n_fft:
        return None
    values = ops.ones((length,), dtype) if window is None else value_of(recording.recorded(window)).astype(dtype)
    if tuple(values.shape) != (length,):
        raise OnemlirError(f"stft: the window must have win_length={length} elements, found shape {tuple(values.shape)}")
    left = (n_fft - length) // 2
    return ops.pad(values, [(left, n_fft - length - left)]) if length != n_fft else values


def _lengths(n_fft, hop_length, win_length) -> tuple[int, int, int]:
    n_fft = n_fft.__index__()
    hop = n_fft // 4 if hop_length is None else hop_length.__index__()
    length = n_fft if win_length is None else win_length.__index__()
    if n_fft <= 0 or hop <= 0 or not 0 < length <= n_fft:
        raise OnemlirError(f"stft: n_fft and hop_length must be positive and win_length between 1 and n_fft; found {n_fft}, {hop}, {length}")
    return n_fft, hop, length


def stft(recording, input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None,
         return_complex=None, align_to_window=None):
    """Transforms of windowed frames, `hop_length` apart: (batch, frequencies, frames). Source: torch.stft."""
    if align_to_window:
        return recording.missing_function("stft with align_to_window")
    if window is not None and window.dtype.is_complex:
        return recording.missing_function("stft with a complex window")
    n_fft, hop, length = _lengths(n_fft, hop_length, win_length)
    parts = _parts(recording, input)
    if parts[0].ndim not in (1, 2):
        raise OnemlirError(f"stft: the signal must be (time,) or (batch, time), found {parts[0].ndim} axes")
    if center:
        widths = [(0, 0)] * (parts[0].ndim - 1) + [(n_fft // 2, n_fft // 2)]
        mode = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[pad_mode]
        parts = [None if p is None else ops.pad(p, widths, mode=mode) for p in parts]
    framed = [None if p is None else fourier.frames(p, n_fft, hop) for p in parts]
    half = parts[1] is None if onesided is None else onesided
    scale = n_fft ** -0.5 if normalized else 1.0
    found = fourier.transform(framed, framed[0].ndim - 1, n_fft, count=n_fft // 2 + 1 if half else n_fft, scale=scale,
                              window=_window(recording, window, length, n_fft, parts[0].dtype))
    result = _complex(ops.swapaxes(p, -1, -2) for p in found)
    if return_complex is None and parts[1] is None and (window is None or not window.dtype.is_complex):
        raise OnemlirError("stft: return_complex must be given for real inputs, as in torch")
    return result if return_complex is None or return_complex else recording.call(torch.view_as_real, (result,), {})


def istft(recording, input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None,
          return_complex=False):
    """The signal of which `stft` gives (batch, frequencies, frames), by adding up frames and dividing by the sum of the squared windows.

    Where no window is above 0 torch raises an error; here the result is infinite or NaN. Source: torch.istft.
    """
    n_fft, hop, win_length = _lengths(n_fft, hop_length, win_length)
    parts = [ops.swapaxes(p, -1, -2) for p in _parts(recording, input)]
    half = parts[0].shape[-1] != n_fft if onesided is None else onesided
    window = _window(recording, window, win_length, n_fft, parts[0].dtype)
    scale = (1 / n_fft) * (math.sqrt(n_fft) if normalized else 1.0)
    if half and not return_complex:
        frames = [fourier.real_inverse(parts, parts[0].ndim - 1, n_fft, scale, window)]
    else:
        frames = [p if window is None else p * window for p in fourier.transform(parts, parts[0].ndim - 1, n_fft, inverse=True, scale=scale)]
    squares = ops.ones((n_fft,), parts[0].dtype) if window is None else window * window
    total = fourier.overlapped(ops.broadcast_to(squares, shape=(frames[0].shape[-2], n_fft)), hop)
    found = [RecordedTensor(_cut(fourier.overlapped(f, hop), total, n_fft, center, length)) for f in frames[:2 if return_complex else 1]]
    return RecordedComplex(*found) if return_complex else found[0]


def _cut(y: Tensor, total: Tensor, n_fft: int, center: bool, length):
    """The signal without what was added at both ends, or its first `length` points, with zeros behind them."""
    start = n_fft // 2 if center else 0
    if length is None:
        end = -(n_fft // 2) if center else None
        return y[..., start:end] / total[start:end]
    length, size = from_sym_int(length), y.shape[-1]
    found = y[..., start:start + length] / total[start:start + length]
    return fourier.fitted(found, size_of(length)) if not isinstance(size, int) or start + length > size else found


def _stft_aten(recording, input, n_fft, hop_length=None, win_length=None, window=None, normalized=False, onesided=None, return_complex=None,
               align_to_window=None):
    return stft(recording, input, n_fft, hop_length, win_length, window, False, "reflect", normalized, onesided, return_complex, align_to_window)


_register("stft", stft)
_register("aten.stft.center", stft)
_register("aten.stft", _stft_aten)
_register("istft", istft)
