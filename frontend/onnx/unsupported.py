"""Finding what cannot be read before anything is read, so that one message lists all of it."""
from __future__ import annotations

from typing import Iterable, Mapping

import onnx

from ...errors import FormatError, UnsupportedOpError
from .functions import FunctionTable, has_body
from .registry import normal_domain, reader_of

DEPTH = 64  # of functions and subgraphs within one another


def subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """The graphs in a node's attributes."""
    found = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return found + [g for a in node.attribute if a.type == onnx.AttributeProto.GRAPHS for g in a.graphs]


def version_of(versions: Mapping[str, int], domain: str) -> int:
    """The version of an operator set that a model or function imports; the newest known for a domain that it does not name."""
    domain = normal_domain(domain)
    if domain in versions:
        return versions[domain]
    return onnx.defs.onnx_opset_version() if not domain else 1


def check_supported(nodes: Iterable[onnx.NodeProto], versions: Mapping[str, int], functions: FunctionTable) -> None:
    """UnsupportedOpError that lists each operator without a reader: domain, version, count and names of nodes."""
    missing: dict[tuple, list[str]] = {}
    _collect(nodes, versions, functions, missing, 0)
    if missing:
        lines = [f"  {domain or 'ai.onnx'}.{op} version {version}, {len(names)} times: {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"
                 for (domain, op, version), names in sorted(missing.items())]
        raise UnsupportedOpError("the model has operators that cannot be read:\n" + "\n".join(lines))


def _collect(nodes, versions, functions: FunctionTable, missing: dict, depth: int) -> None:
    if depth > DEPTH:
        raise FormatError(f"functions or subgraphs lie more than {DEPTH} deep within one another: is a function defined by itself?")
    for node in nodes:
        version = version_of(versions, node.domain)
        function = functions.find(node)
        if function is not None:
            _collect(function.node, imports(function.opset_import), functions, missing, depth + 1)
        elif reader_of(node.domain, node.op_type, version) is None and not has_body(node.op_type, node.domain, version):
            names = missing.setdefault((normal_domain(node.domain), node.op_type, version), [])
            names.append(node.name or next((o for o in node.output if o), "without a name"))
        for graph in subgraphs(node):
            _collect(graph.node, versions, functions, missing, depth + 1)


def imports(opsets) -> dict[str, int]:
    """Versions by domain."""
    return {normal_domain(o.domain): o.version for o in opsets}
