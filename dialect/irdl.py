"""The dialect's definition in IRDL, written from the declarations.

IRDL checks operand kinds, attribute names and kinds; what it cannot say is checked by `verify`.
"""
from __future__ import annotations

from .attributes import AttributeKind
from .declare import Op, REGISTRY


def dialect_text(namespace: str) -> str:
    """IRDL text of all ops declared in a namespace."""
    ops = [op for op in REGISTRY.values() if op.namespace == namespace and not op.upstream]
    body = "\n".join(_operation(op) for op in sorted(ops, key=lambda op: op.opname))
    return f"irdl.dialect @{namespace} {{\n{body}\n}}\n"


def _operation(op: type[Op]) -> str:
    lines, operands, attributes, results = [], [], [], []
    for spec in op.operands:
        lines.append(f'%o_{spec.name} = irdl.base "!builtin.tensor"')
        prefix = "optional " if spec.optional else "variadic " if spec.variadic else ""
        operands.append(f"{spec.name}: {prefix}%o_{spec.name}")
    if op.has_sizes():
        lines.append("%o_sizes = irdl.is index")
        operands.append("sizes: variadic %o_sizes")
    for operand in op.index_operands:
        lines.append(f"%o_{operand} = irdl.is index")
        operands.append(f"{operand}: %o_{operand}")
    for spec in op.attributes:
        lines.append(f"%a_{spec.name} = {_attribute(spec.kind)}")
        attributes.append(f'"{spec.name}" = %a_{spec.name}')
    for spec in op.results:
        lines.append(f"%r_{spec.name} = " + (f"irdl.is {op.result_base}" if op.result_base else 'irdl.base "!builtin.tensor"'))
        results.append(f"{spec.name}: %r_{spec.name}")
    if operands:
        lines.append(f"irdl.operands({', '.join(operands)})")
    if attributes:
        lines.append(f"irdl.attributes {{ {', '.join(attributes)} }}")
    if results:
        lines.append(f"irdl.results({', '.join(results)})")
    return f"  irdl.operation @{op.opname} {{\n" + "".join(f"    {line}\n" for line in lines) + "  }"


def _attribute(kind: AttributeKind) -> str:
    return f'irdl.base "{kind.irdl}"' if kind.irdl else "irdl.any"
