"""`om.lowering.stages` again and again, and for which processor."""
import pytest

import onemlir as om
from onemlir import ops
from onemlir.lowering import targets


def test_stages_can_be_asked_for_more_than_once():
    traced = om.trace(lambda x: ops.exp(x), om.ones((3,)))
    first, second = om.lowering.stages(traced), om.lowering.stages(traced)
    assert list(first) == list(second) and "linalg" in first


def test_an_unknown_target_of_the_environment(monkeypatch):
    monkeypatch.setenv("ONEMLIR_TARGET", "nope")
    with pytest.raises(om.OnemlirError, match="ONEMLIR_TARGET is 'nope'.*avx512, avx2"):
        targets._detected.__wrapped__()
