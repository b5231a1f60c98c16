"""Models that ask for more than can be read: an error or a graph, but no memory or time without end."""
import numpy as np
import onnx
import pytest

import onemlir as om
from models import F32, I64, model, node, value

HUGE = 1 << 31


def shaped(*sizes):
    return {"shape": np.array(sizes)}


@pytest.mark.parametrize("nodes, constants", [
    ([node("ConstantOfShape", "shape", "y")], shaped(HUGE, 6)),
    ([node("Expand", "one shape", "y")], shaped(HUGE, 6) | {"one": np.ones(1, np.float32)}),
    ([node("Tile", "one shape", "y")], shaped(HUGE) | {"one": np.ones(1, np.float32)}),
    ([node("Range", "low high step", "y")], {"low": np.float32(0).reshape(()), "high": np.float32(HUGE).reshape(()), "step": np.float32(1).reshape(())}),
    ([node("Pad", "one shape", "y")], shaped(HUGE, HUGE) | {"one": np.ones(1, np.float32)}),
    ([node("Resize", "one _ _ shape", "y")], shaped(HUGE) | {"one": np.ones(1, np.float32)}),
], ids=lambda p: p[0].op_type if isinstance(p, list) else "")
def test_large_constants_are_computed_when_the_model_runs(nodes, constants):
    traced = om.from_onnx(model(nodes, [value("x", [1])], [onnx.ValueInfoProto(name="y")], constants))
    assert sum(w.nbytes for w in traced.parameters.values()) < 1 << 20
    assert traced.outputs[0].shape[0] >= HUGE


@pytest.mark.parametrize("nodes, inputs", [
    ([node("Reshape", "x s", "y")], [value("x", [2, 3]), value("s", [HUGE], I64)]),
    ([node("Reshape", "x s", "y")], [value("x", [2, 3]), value("s", [6, 6, 180], I64)]),
    ([node("SplitToSequence", "x", "s", axis=0), node("SequenceAt", "s zero", "y")], [value("x", [HUGE, 3])]),
    ([node("TfIdfVectorizer", "x", "y", mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[HUGE], pool_int64s=[1])],
     [value("x", [4], I64)]),
    ([node("RoiAlign", "x r b", "y", sampling_ratio=HUGE)], [value("x", [1, 1, 4, 4]), value("r", [1, 4]), value("b", [1], I64)]),
    ([node("LRN", "x", "y", size=HUGE)], [value("x", [1, 3, 4, 4])]),
], ids=lambda p: p[0].op_type if isinstance(p[0], onnx.NodeProto) else "")
def test_too_many_parts_are_refused(nodes, inputs):
    with pytest.raises(om.UnsupportedOpError, match="can be read one by one"):
        om.from_onnx(model(nodes, inputs, [onnx.ValueInfoProto(name="y")], {"zero": np.array(0)}))


__all__ = ["F32"]
