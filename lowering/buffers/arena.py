"""Where each buffer lies in the arena.

The bytes of a buffer are `coefficient * unit`, where the unit is the product of its dynamic sizes (1 where all are static). Buffers of
one unit form a group, which is planned offline like static sizes, in multiples of the unit. Groups lie one after the other; those of which no
two are in use at the same time, as layers of other resolutions, lie in one place, as large as the largest.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence

from .lifetimes import Interval

ALIGNMENT = 64
SMALL = 256  # bytes a unit below which the unit, not the coefficient, is rounded up to the alignment


@dataclass
class Request:
    """One buffer: its lifetime, and where it was put (in units)."""

    interval: Interval
    coefficient: int
    offset: int = -1


def place(requests: list[Request]) -> int:
    """Give each request an offset so that those alive at the same time do not overlap: largest first, lowest gap that fits.

    Returns the size of the whole.
    """
    placed: list[Request] = []
    for request in sorted(requests, key=lambda r: (-r.coefficient, r.interval.first)):
        request.offset = _first_gap(request, placed)
        placed.append(request)
    return max((r.offset + r.coefficient for r in placed), default=0)


def _first_gap(request: Request, placed: list[Request]) -> int:
    offset = 0
    for other in sorted((p for p in placed if p.interval.meets(request.interval)), key=lambda p: p.offset):
        if offset + request.coefficient <= other.offset:
            break
        offset = max(offset, other.offset + other.coefficient)
    return offset


def hull(intervals: Sequence[Interval]) -> Interval:
    """The shortest interval around all of these."""
    return Interval(min(i.first for i in intervals), max(i.last for i in intervals))


def apart(keys: Sequence, spans: Mapping) -> list[list]:
    """Keys in lists of which no two spans meet, by first fit."""
    lists: list[list] = []
    for key in sorted(keys, key=lambda key: spans[key].first):
        free = (chosen for chosen in lists if not any(spans[key].meets(spans[other]) for other in chosen))
        found = next(free, None)
        if found is None:
            lists.append([key])
        else:
            found.append(key)
    return lists


def round_up(number: int, multiple: int = ALIGNMENT) -> int:
    return -(-number // multiple) * multiple
