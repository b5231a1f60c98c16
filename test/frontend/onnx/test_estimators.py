"""ai.onnx.ml: scaling, encoding, linear models and trees, as onnxruntime computes them."""
import numpy as np
import pytest
from models import F32, I64, model, node, same_as_peer, value

ROWS = np.random.default_rng(0).standard_normal((7, 3)).astype(np.float32)
ROWS[1] = 0
PEOPLE = np.array([[1, 5], [3, -1]])


def ml(op_type: str, inputs: dict, outputs: str = "y", **attributes):
    infos = [value(n, [None, *a.shape[1:]], I64 if a.dtype == np.int64 else F32) for n, a in inputs.items()]
    whole = op_type == "Imputer" and inputs["x"].dtype == np.int64
    results = [value(o, None, I64 if o == "label" or whole else F32) for o in outputs.split()]
    return model([node(op_type, " ".join(inputs), outputs, domain="ai.onnx.ml", **attributes)], infos, results, extra=[("ai.onnx.ml", 3)])


@pytest.mark.parametrize(("op_type", "inputs", "attributes"), [
    ("Scaler", {"x": ROWS}, {"offset": [0.1, 0.2, 0.3], "scale": [2.0, 3.0, 4.0]}),
    ("Normalizer", {"x": ROWS}, {"norm": "L1"}), ("Normalizer", {"x": ROWS}, {"norm": "L2"}), ("Normalizer", {"x": ROWS}, {"norm": "MAX"}),
    ("Imputer", {"x": np.where(ROWS > 1, np.nan, ROWS)}, {"imputed_value_floats": [1.0, 2.0, 3.0], "replaced_value_float": float("nan")}),
    ("Imputer", {"x": PEOPLE}, {"imputed_value_int64s": [7], "replaced_value_int64": -1}),
    ("FeatureVectorizer", {"x": ROWS, "z": ROWS[:, :2]}, {"inputdimensions": [4, 1]}),
    ("OneHotEncoder", {"x": PEOPLE}, {"cats_int64s": [1, 3, 5], "zeros": 1}),
    ("LinearRegressor", {"x": ROWS}, {"coefficients": [1.0, 2.0, 3.0, -1.0, 0.0, 0.5], "intercepts": [0.1, 0.2], "targets": 2}),
    ("LinearRegressor", {"x": ROWS}, {"coefficients": [1.0, 0.0, 0.0, -1.0, 0.0, 0.5], "intercepts": [0.0, 1.0], "targets": 2, "post_transform": "SOFTMAX_ZERO"}),
])  # fmt: skip
def test_estimator(op_type, inputs, attributes):
    same_as_peer(ml(op_type, inputs, **attributes), inputs)


@pytest.mark.parametrize(("transform", "labels", "count"), [
    ("NONE", [4, 9], 1), ("LOGISTIC", [4, 9], 1), ("SOFTMAX", [4, 9], 2), ("LOGISTIC", [4, 9, 2], 3), ("NONE", [4, 9, 2], 3)])  # fmt: skip
def test_linear_classifier(transform, labels, count):
    attributes = {"coefficients": [0.5, -1.0, 2.0, 1.0, 0.3, -0.7, 0.1, 0.2, 0.9][:3 * count], "intercepts": [0.1, -0.2, 0.3][:count]}
    same_as_peer(ml("LinearClassifier", {"x": ROWS}, "label y", classlabels_ints=labels, post_transform=transform, **attributes), {"x": ROWS})


def forest(rng, modes=("BRANCH_LEQ",), missing: bool = False):
    """Two trees of seven and three nodes, and their leaves."""
    trees, inside = [0] * 7 + [1] * 3, (0, 1, 2, 7)
    attributes = {
        "treeids": trees, "nodeids": [*range(7), *range(3)], "featureids": rng.integers(0, 3, 10).tolist(),
        "modes": [modes[i % len(modes)] if i in inside else "LEAF" for i in range(10)], "values": rng.standard_normal(10).tolist(),
        "truenodeids": [1, 3, 5, 0, 0, 0, 0, 1, 0, 0], "falsenodeids": [2, 4, 6, 0, 0, 0, 0, 2, 0, 0],
        "missing_value_tracks_true": [int(missing and i % 2) for i in range(10)]}  # fmt: skip
    leaves = [(trees[i], attributes["nodeids"][i]) for i in range(10) if i not in inside]
    return {f"nodes_{name}": values for name, values in attributes.items()}, leaves


@pytest.mark.parametrize(("function", "modes", "missing"), [
    ("SUM", ("BRANCH_LEQ",), True), ("AVERAGE", ("BRANCH_LT", "BRANCH_GTE", "BRANCH_NEQ"), False), ("MAX", ("BRANCH_GT",), False)])
def test_tree_regressor(function, modes, missing):
    rng = np.random.default_rng(1)
    nodes, leaves = forest(rng, modes, missing)
    proto = ml("TreeEnsembleRegressor", {"x": ROWS}, n_targets=1, aggregate_function=function, base_values=[0.5],
               target_treeids=[t for t, _ in leaves], target_nodeids=[n for _, n in leaves], target_ids=[0] * 6, target_weights=rng.standard_normal(6).tolist(), **nodes)
    same_as_peer(proto, {"x": np.where(ROWS > 1, np.nan, ROWS) if missing else ROWS})


@pytest.mark.parametrize(("labels", "voted"), [([5, 7, 6], 3), ([5, 7], 0), ([5, 7], 1)])
@pytest.mark.parametrize(("transform", "positive"), [("NONE", True), ("LOGISTIC", False)])
def test_tree_classifier(labels, voted, transform, positive):
    """Each leaf speaks for all three classes, or for one of two."""
    rng = np.random.default_rng(2)
    nodes, leaves = forest(rng)
    leaves, ids = (leaves * 3, [0] * 6 + [1] * 6 + [2] * 6) if voted == 3 else (leaves, [voted] * 6)
    weights = rng.uniform(0, 0.5, len(ids)) if positive else rng.standard_normal(len(ids))
    proto = ml("TreeEnsembleClassifier", {"x": ROWS}, "label y", classlabels_int64s=labels, post_transform=transform,
               class_treeids=[t for t, _ in leaves], class_nodeids=[n for _, n in leaves], class_ids=ids, class_weights=weights.tolist(), **nodes)
    same_as_peer(proto, {"x": ROWS})
