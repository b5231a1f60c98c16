"""Every op is handled by every layer, or the hole is declared here with its reason."""
import pathlib
import subprocess
import sys

import pytest

from onemlir.dialect import ops  # noqa: F401
from onemlir.dialect.declare import REGISTRY
from onemlir.dialect.onnx.registry import WRITERS
from onemlir.lowering.decompositions import DECOMPOSITIONS
from onemlir.lowering.linalg import LOWERINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
BY_THE_CONVERTER = {"parameter", "dim", "from_size", "to_size", "size_mod", "size_broadcast", "guard"}
OPS = sorted((op for op in REGISTRY.values() if op.namespace == "om"), key=lambda op: op.opname)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.opname)
def test_documented(op):
    assert op.__doc__ and len(op.__doc__) > 3, "an op's class docstring is its reference page"


@pytest.mark.parametrize("op", [op for op in OPS if op.opname not in BY_THE_CONVERTER], ids=lambda op: op.opname)
def test_compiles(op):
    """There is a lowering, or a decomposition into ops that have one."""
    assert op in LOWERINGS or op in DECOMPOSITIONS


@pytest.mark.parametrize("op", [op for op in OPS if not op.typed_by_ir and not op.index_operands], ids=lambda op: op.opname)
def test_has_a_meaning(op):
    """There is a numpy reference and a shape rule."""
    assert op.reference is not None
    assert op.infer is not None or all(result.like for result in op.results)


def test_onnx_writers_exist():
    missing = [op.opname for op in OPS if op not in WRITERS and op not in DECOMPOSITIONS and op.opname not in BY_THE_CONVERTER]
    assert not missing


def test_generated_files_are_up_to_date():
    """Reference pages and stubs are what the declarations give."""
    result = subprocess.run([sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, cwd=ROOT.parent)
    assert result.returncode == 0, result.stdout + result.stderr
