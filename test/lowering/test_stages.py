"""`om.lowering.stages` again and again."""
import onemlir as om
from onemlir import ops


def test_stages_can_be_asked_for_more_than_once():
    traced = om.trace(lambda x: ops.exp(x), om.ones((3,)))
    first, second = om.lowering.stages(traced), om.lowering.stages(traced)
    assert list(first) == list(second) and "linalg" in first
