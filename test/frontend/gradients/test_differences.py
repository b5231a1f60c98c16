"""Every gradient rule against finite differences, and second derivatives where the op is smooth."""
import importlib.util
import pathlib

import pytest

from onemlir.dialect import dtypes
from onemlir.dialect.declare import REGISTRY
from onemlir.frontend.gradients import GRADIENTS, NO_GRADIENT
from onemlir.frontend.ops.declared import declared as ops
import onemlir as om


def load(name):
    path = pathlib.Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"gradient_{name}", path)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CASES, differences = load("cases").CASES, load("differences")
SMOOTH = [c for c in CASES if c.smooth and c.op not in ("norm", "std")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_first_derivatives(case):
    differences.check(case.function, *case.arrays)


@pytest.mark.parametrize("case", SMOOTH, ids=str)
def test_second_derivatives(case):
    differences.check_second(case.function, *case.arrays)


def test_every_rule_has_a_case():
    assert sorted({op.opname for op in GRADIENTS} - {c.op for c in CASES}) == []


def floating(specs) -> bool:
    return any(dtypes.is_floating(d) for s in specs for d in s.dtypes.members)


def gives_floating(op) -> bool:
    """Whether a result can be floating; the others have no gradient by their dtype."""
    fixed = {"argmax", "argmin", "argsort", "nonzero", "searchsorted", "quantize_linear"}
    return op.results and getattr(op, "result_dtype", None) != dtypes.bool_ and op.opname not in fixed and op.result_base is None


def test_every_op_has_a_rule_or_a_reason():
    holes = [op.qualified_name() for op in REGISTRY.values() if not op.abstract and op.namespace == "om" and floating(op.operands) and gives_floating(op)
             and op not in GRADIENTS and op not in NO_GRADIENT]
    assert holes == []
    assert all(reason for reason in NO_GRADIENT.values())


def test_an_op_without_a_rule_says_so():
    x = om.tensor([1.0, 2.0, 1.0], requires_grad=True)
    values = ops.unique(x)[0]
    with pytest.raises(om.UnsupportedOpError, match="unique has no gradient: which elements are distinct"):
        values.sum().backward()
