"""JSON without its ambiguities: UTF-8, no duplicate keys, no NaN, no number that does not fit 64 bits, no deep nesting."""
from __future__ import annotations

import json
import math
from collections import Counter

from .report import quote, refusal

DEEPEST_NESTING = 32
_INTEGERS = range(-(2**63), 2**64)
_LONGEST_INTEGER = len(str(2**64))


def parse(data: bytes, where: str) -> dict:
    """The object that `data` spells. Raises FormatError for anything else."""
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise refusal(where, f"byte {data[error.start]:#04x} at offset {error.start}", "UTF-8 text") from None
    except RecursionError:
        raise refusal(where, "JSON nested hundreds deep", f"at most {DEEPEST_NESTING} levels") from None
    except ValueError as error:
        raise refusal(where, f"text that is not strict JSON: {error}", "a JSON object") from None
    if not isinstance(value, dict):
        raise refusal(where, f"a JSON {type(value).__name__}", "a JSON object")
    return value


def require_plain(value: object, where: str) -> None:
    """Raise FormatError unless `value` can be written as JSON and read back unchanged (tuples become lists)."""
    level = [value]
    for _ in range(DEEPEST_NESTING + 1):
        if not level:
            return
        level = [child for parent in level for child in _children(parent, where)]
    raise refusal(where, f"values nested more than {DEEPEST_NESTING} deep", f"at most {DEEPEST_NESTING} levels")


def is_text(value: object) -> bool:
    """A string that UTF-8 can carry (no lone surrogates)."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_count(value: object) -> bool:
    """A non-negative integer, and not a bool."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _children(value: object, where: str) -> list:
    if isinstance(value, dict):
        for key in value:
            _require(is_text(key), key, "a key that is text", where)
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, int):
        _require(value in _INTEGERS, value, "an integer of 64 bits", where)
    elif isinstance(value, float):
        _require(math.isfinite(value), value, "a finite number", where)
    elif value is not None:
        _require(is_text(value), value, "text, a number, true, false, null, a list or an object", where)
    return []


def _require(holds: bool, found: object, expected: str, where: str) -> None:
    if not holds:
        raise refusal(where, quote(found), expected)


def _unique(pairs: list[tuple[str, object]]) -> dict:
    result = dict(pairs)
    if len(result) != len(pairs):
        key, count = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {quote(key)} appears {count} times")
    return result


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER or int(text) not in _INTEGERS:
        raise ValueError(f"the integer {quote(text)} does not fit 64 bits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {quote(text)} is not finite")
    return value


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")
