"""What the Python loader reads from a library: inputs, outputs, messages and parameters, as JSON."""
from __future__ import annotations

import json
from typing import Any, Mapping, Sequence

import numpy as np

from ...dialect.status import SizeCheck
from ...dialect.structure import to_json
from ...dialect.symbolic import Size, Symbol
from ..specs import Message, Spec


def size_json(size: Size) -> Any:
    """An int, or {"text", "terms": [[factor, [atom, ...]], ...]} with atoms {"axis", ...} or {"call", "left", "right"}."""
    if isinstance(size, int):
        return size
    terms = sorted(size.terms.items(), key=str)
    return {"text": str(size), "terms": [[factor, [_atom(atom) for atom in monomial]] for monomial, factor in terms]}


def _atom(atom) -> dict:
    if isinstance(atom, Symbol):
        return {"axis": atom.name, "minimum": atom.minimum, "maximum": atom.maximum, "multiple_of": atom.multiple_of}
    return {"call": atom.function, "left": size_json(atom.left), "right": size_json(atom.right)}


def spec_json(spec: Spec) -> dict:
    return {"name": spec.name, "dtype": spec.dtype.name, "sizes": [size_json(s) for s in spec.sizes], "data_dependent": spec.data_dependent}


def metadata(name: str, version: str, inputs: Sequence[Spec], outputs: Sequence[Spec], messages: Mapping[int, Message], structure: Any,
             levels: Sequence[tuple[str, Sequence[int], Sequence[np.ndarray]]], threads: int, beside: Mapping | None,
             checks: Sequence[SizeCheck] = ()) -> str:  # fmt: skip
    """levels: name, offsets and arrays of each. beside: file name, size and hash of weights that are not inside. checks: on sizes."""
    content = {
        "name": name, "onemlir": version, "threads": threads, "structure": to_json(structure), "weights": beside,
        "inputs": [spec_json(s) for s in inputs], "outputs": [spec_json(s) for s in outputs],
        "checks": [[c.comparison, size_json(c.left), size_json(c.right), c.message, c.kind] for c in checks],
        "messages": {str(code): [m.error, m.text] for code, m in messages.items()},
        "levels": [{"cpu": cpu, "parameters": [[o, a.dtype.name, list(a.shape)] for o, a in zip(offsets, arrays)]}
                   for cpu, offsets, arrays in levels],
    }  # fmt: skip
    return json.dumps(content, separators=(",", ":"))
