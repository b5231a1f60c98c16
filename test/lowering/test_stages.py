"""`om.lowering.stages` again and again, and for which processor."""
import pytest

import onemlir as om
from onemlir import ops
from onemlir.lowering import targets
from onemlir.runtime import code_generator


def test_stages_can_be_asked_for_more_than_once():
    traced = om.trace(lambda x: ops.exp(x), om.ones((3,)))
    first, second = om.lowering.stages(traced), om.lowering.stages(traced)
    assert list(first) == list(second) and "linalg" in first


def test_an_unknown_target_of_the_environment(monkeypatch):
    monkeypatch.setenv("ONEMLIR_TARGET", "nope")
    with pytest.raises(om.OnemlirError, match="ONEMLIR_TARGET is 'nope'.*avx512, avx2"):
        targets._detected.__wrapped__()


@pytest.mark.skipif(targets._machine().vector_bits < 512, reason="this processor is no better one")
def test_a_lesser_target_of_the_environment_withholds_features(monkeypatch):
    monkeypatch.setattr(targets, "_detected", lambda: targets.AVX2)
    assert code_generator._host.__wrapped__()[1].endswith(b",-avx512f,-avxvnni")
    monkeypatch.setattr(targets, "_detected", targets._machine)
    assert b"-avx512f," not in code_generator._host.__wrapped__()[1]
