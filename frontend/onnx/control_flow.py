"""If, Loop and Scan."""
from __future__ import annotations

from .registry import reads
from .sequence import run_body


@reads("If")
def read_if(node, ops):
    condition = node.value(0).array
    if condition is not None:
        name = "then_branch" if bool(condition.reshape(())) else "else_branch"
        return tuple(run_body(node, node.subgraph(name), [], f"{name}/"))
    node.array(0)
