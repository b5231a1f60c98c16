"""Binding named axes to the sizes of the inputs, and computing the sizes of the outputs."""
from __future__ import annotations

from typing import Any, Sequence

from ..errors import ShapeError
from .specs import Spec


def axis_name(size: Any) -> str | None:
    """The name of an axis where a size is just that, and None for an int or a longer expression."""
    if isinstance(size, int):
        return None
    name = str(size)
    try:
        return name if all(size.evaluate({name: n}) == n for n in (7, 12)) else None
    except KeyError:
        return None


def bind(specs: Sequence[Spec], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """The size of each named axis. Raises ShapeError for what does not fit."""
    sizes: dict[str, int] = {}
    first: dict[str, str] = {}
    for spec, shape in zip(specs, shapes):
        if len(shape) != len(spec.sizes):
            wanted = f"{_axes(len(spec.sizes))}, {spec.shape}"
            raise ShapeError(f"input '{spec.name}' has {_axes(len(shape))}, shape {shape}, but the model takes {wanted}")
        for size, found in zip(spec.sizes, shape):
            name = axis_name(size)
            if name is None:
                continue
            if sizes.setdefault(name, found) != found:
                raise ShapeError(f"axis '{name}' is {found} in '{spec.name}' but {sizes[name]} in '{first[name]}'")
            first.setdefault(name, spec.name)
            _check_range(size, found, spec.name)
    for spec, shape in zip(specs, shapes):
        _check_expressions(spec, shape, sizes)
    return sizes


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"


def _check_expressions(spec: Spec, shape: tuple[int, ...], sizes: dict[str, int]) -> None:
    for axis, (size, found) in enumerate(zip(spec.sizes, shape)):
        try:
            expected = size if isinstance(size, int) else size.evaluate(sizes)
        except KeyError:
            continue  # names an axis that no input has alone
        if expected != found:
            reason = "" if isinstance(size, int) else f" ({size})"
            wanted = f"{expected}{reason}; its shape is {spec.shape}"
            raise ShapeError(f"axis {axis} of input '{spec.name}' is {found}, but the model takes {wanted}")


def _check_range(size: Any, found: int, name: str) -> None:
    for symbol in size.symbols() if hasattr(size, "symbols") else ():
        least, most, factor = (getattr(symbol, a, None) for a in ("minimum", "maximum", "multiple_of"))
        if least is not None and found < least:
            raise ShapeError(f"axis '{symbol}' is {found} in '{name}', but must be at least {least}")
        if most is not None and found > most:
            raise ShapeError(f"axis '{symbol}' is {found} in '{name}', but must be at most {most}")
        if factor and found % factor:
            raise ShapeError(f"axis '{symbol}' is {found} in '{name}', but must be a multiple of {factor}")


def output_shape(spec: Spec, sizes: dict[str, int]) -> tuple[int, ...]:
    shape = tuple(size if isinstance(size, int) else size.evaluate(sizes) for size in spec.sizes)
    if min(shape, default=0) < 0:
        raise ShapeError(f"output '{spec.name}' would have shape {shape}: the inputs are too small")
    return shape
