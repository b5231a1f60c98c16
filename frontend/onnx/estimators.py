"""Operators of the domain ai.onnx.ml that estimators are made of: scaling, encoding, linear models, trees of decisions."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ..ops.shape import slice_along
from ..tensor import Tensor
from .machine_learning import ML
from .registry import reads
from .shape import sizes_of

COMPARISONS = {"BRANCH_LEQ": "less_equal", "BRANCH_LT": "less", "BRANCH_GTE": "greater_equal", "BRANCH_GT": "greater", "BRANCH_EQ": "equal",
               "BRANCH_NEQ": "not_equal"}  # fmt: skip
LEAF = "LEAF"


def _constant(values, dtype=np.float32) -> Tensor:
    return Tensor._wrap(np.ascontiguousarray(values, dtype))


def _rows(node, ops, number: int = 0) -> Tensor:
    """An input as (rows, features) of f32; one of rank 1 is a row."""
    x = node.tensor(number).astype(dtypes.float32)
    return ops.reshape(x, shape=(1, *sizes_of(x))) if x.ndim == 1 else x


@reads("Scaler", domain=ML)
def read_scaler(node, ops):
    x = node.tensor(0).astype(dtypes.float32)
    return (x - _constant(node.floats("offset", (0.0,)))) * _constant(node.floats("scale", (1.0,)))


@reads("Normalizer", domain=ML)
def read_normalizer(node, ops):
    """Rows divided by their norm, where it is not 0."""
    x, kind = node.tensor(0).astype(dtypes.float32), node.text("norm", "MAX")
    norms = {"MAX": lambda: ops.max(x, axis=-1, keepdims=True), "L1": lambda: ops.sum(ops.abs(x), axis=-1, keepdims=True),
             "L2": lambda: ops.sqrt(ops.sum(x * x, axis=-1, keepdims=True))}  # fmt: skip
    if kind not in norms:
        node.refuse(f"norm must be one of {', '.join(norms)}, found {kind!r}")
    norm = norms[kind]()
    return ops.where(norm == 0.0, x, x / norm)


@reads("Imputer", domain=ML)
def read_imputer(node, ops):
    """Values for the elements that are missing: NaN, or equal to one value."""
    x = node.tensor(0)
    if dtypes.is_floating(x.dtype):
        values, missing = node.floats("imputed_value_floats"), node.float("replaced_value_float", 0.0)
    else:
        values, missing = node.ints_attribute("imputed_value_int64s"), node.int("replaced_value_int64", 0)
    if not values:
        node.refuse(f"no values to put into {x.dtype}")
    found = ops.isnan(x) if missing != missing else ops.equal(x, _constant(missing, x.dtype))
    return ops.where(found, _constant(values, x.dtype), x)


@reads("FeatureVectorizer", domain=ML)
def read_feature_vectorizer(node, ops):
    """The columns of all inputs side by side, as many of each as the attribute says, zeros where it has fewer."""
    widths = node.ints_attribute("inputdimensions")
    parts = []
    for number in range(len(node.inputs)):
        x, width = _rows(node, ops, number), widths[number] if widths else None
        size = sizes_of(x)[1]
        if not isinstance(size, int):
            node.needs_size(number, f"rows must have a fixed length, found {size}")
        width = size if width is None else width
        part = slice_along(x, 1, 0, min(size, width))
        parts.append(part if size >= width else ops.pad_constant(part, 0.0, low=(0, 0), high=(0, width - size)))
    return ops.concat(parts, axis=1)


@reads("OneHotEncoder", domain=ML)
def read_one_hot_encoder(node, ops):
    """One more axis with a 1 at the category that an element equals. What is in no category gives zeros."""
    categories = node.ints_attribute("cats_int64s")
    if categories is None:
        node.refuse("categories of text cannot be read")
    x = node.tensor(0)
    column = ops.reshape(x, shape=(*sizes_of(x), 1)).astype(dtypes.int64)
    return ops.equal(column, _constant(categories, np.int64)).astype(dtypes.float32)


@reads("LinearRegressor", domain=ML)
def read_linear_regressor(node, ops):
    targets = node.int("targets", 1)
    return _transformed(node, ops, _linear(node, ops, targets, node.floats("intercepts")))


@reads("LinearClassifier", domain=ML)
def read_linear_classifier(node, ops):
    intercepts = node.floats("intercepts")
    labels = _labels(node)
    count = len(intercepts) if intercepts else len(labels)
    return _classified(node, ops, _linear(node, ops, count, intercepts), labels, 0.0, "complement")


def _linear(node, ops, count: int, intercepts) -> Tensor:
    """Scores (rows, count)."""
    weights = _constant(node.floats("coefficients")).numpy().reshape(count, -1)
    scores = ops.matmul(_rows(node, ops), Tensor._wrap(np.ascontiguousarray(weights.T)))
    return scores + _constant(intercepts) if intercepts else scores


def _labels(node) -> np.ndarray:
    for name in ("classlabels_ints", "classlabels_int64s"):
        if node.ints_attribute(name):
            return np.asarray(node.ints_attribute(name), np.int64)
    return node.refuse("labels of text cannot be read")


def _classified(node, ops, scores: Tensor, labels: np.ndarray, threshold: float, second: str) -> tuple[Tensor, Tensor]:
    """Labels and scores. One score for two classes is that of the second one; the first has its complement, or its negative."""
    if scores.shape[1] != 1:
        return ops.gather(_constant(labels, np.int64), ops.argmax(scores, axis=1)), _transformed(node, ops, scores)
    labels = labels if len(labels) == 2 else np.array([0, 1])
    label = _label_of_two(ops, scores, labels, threshold)
    kind = node.text("post_transform", "NONE")
    if kind == "LOGISTIC":
        return label, ops.concat([ops.sigmoid(-scores), ops.sigmoid(scores)], axis=1)
    if kind != "NONE" and kind != "SOFTMAX":
        node.refuse(f"one score for two classes with post_transform {kind} cannot be read")
    return label, ops.concat([1.0 - scores if second == "complement" else -scores, scores], axis=1)


def _label_of_two(ops, score: Tensor, labels: np.ndarray, threshold: float) -> Tensor:
    """The second label where the score (rows, 1) is above the threshold."""
    return ops.gather(_constant(labels, np.int64), (ops.reshape(score, shape=sizes_of(score)[:1]) > threshold).astype(dtypes.int64))


def _transformed(node, ops, scores: Tensor) -> Tensor:
    kind = node.text("post_transform", "NONE")
    if kind == "SOFTMAX_ZERO":  # scores of 0 stay 0
        there = ops.not_equal(scores, 0.0)
        parts = ops.where(there, ops.exp(scores - ops.max(scores, axis=1, keepdims=True)), 0.0)
        return ops.where(there, parts / ops.sum(parts, axis=1, keepdims=True), 0.0)
    known = {"NONE": lambda: scores, "LOGISTIC": lambda: ops.sigmoid(scores), "SOFTMAX": lambda: ops.softmax(scores, axis=1)}
    if kind not in known:
        node.refuse(f"post_transform {kind} cannot be read")
    return known[kind]()


@reads("TreeEnsembleRegressor", domain=ML)
def read_tree_regressor(node, ops):
    kind = node.text("aggregate_function", "SUM")
    targets, trees = node.int("n_targets", 1), _Trees(node)
    votes = trees.votes(node, ops, "target", targets)
    if kind not in ("SUM", "AVERAGE") and not (kind in ("MIN", "MAX") and targets == 1):
        node.refuse(f"aggregate_function {kind} of {targets} targets cannot be read")
    scores = {"SUM": ops.sum, "AVERAGE": ops.sum, "MIN": ops.min, "MAX": ops.max}[kind](votes, axis=1)
    scores = scores / float(len(trees.roots)) if kind == "AVERAGE" else scores
    return _transformed(node, ops, scores + _constant(node.floats("base_values")) if node.floats("base_values") else scores)


@reads("TreeEnsembleClassifier", domain=ML)
def read_tree_classifier(node, ops):
    labels, base = _labels(node), node.floats("base_values")
    scores = ops.sum(_Trees(node).votes(node, ops, "class", len(labels)), axis=1)
    voted = set(node.ints_attribute("class_ids"))
    if len(labels) == 2 and len(voted) == 1:  # the leaves speak for one class of two
        positive = all(weight >= 0 for weight in node.floats("class_weights"))
        threshold = 0.5 if positive else 0.0
        if voted == {0}:
            score = slice_along(scores, 1, 0, 1)
            score = score + base[-1] if base else score
            return _classified(node, ops, score, labels, threshold, "complement" if positive else "negative")
        label = _label_of_two(ops, slice_along(scores, 1, 1, 1), labels, threshold)
        return label, _transformed(node, ops, scores + _constant(base) if base and len(base) == 2 else scores)
    return _classified(node, ops, scores + _constant(base) if base else scores, labels, 0.0, "complement")


class _Trees:
    """The nodes of all trees in one table: where each leads to; a leaf leads to itself."""

    def __init__(self, node):
        if any(name.endswith("_as_tensor") for name in node.attributes):
            node.refuse("trees of f64 cannot be read")
        self.modes = node.texts("nodes_modes")
        names = list(zip(node.ints_attribute("nodes_treeids"), node.ints_attribute("nodes_nodeids")))
        self.places = {name: place for place, name in enumerate(names)}
        lead = lambda which: [self.places[tree, to] if mode != LEAF else place for place, ((tree, _), to, mode)
                              in enumerate(zip(names, node.ints_attribute(f"nodes_{which}nodeids"), self.modes))]
        self.yes, self.no = lead("true"), lead("false")
        inner = {to for place, mode in enumerate(self.modes) if mode != LEAF for to in (self.yes[place], self.no[place])}
        self.roots = [place for place in range(len(names)) if place not in inner]
        self.depth = node.steps(self._depth(), "the levels of the trees", 512)

    def _depth(self) -> int:
        depth, level = 0, [root for root in self.roots if self.modes[root] != LEAF]
        while level and depth <= len(self.modes):
            below = {to for place in level for to in (self.yes[place], self.no[place])}
            depth, level = depth + 1, [to for to in below if self.modes[to] != LEAF]
        return depth

    def votes(self, node, ops, what: str, count: int) -> Tensor:
        """(rows, trees, count): the weights in the leaf that a row reaches in each tree."""
        weights = np.zeros((len(self.modes), count), np.float32)
        names = zip(node.ints_attribute(f"{what}_treeids"), node.ints_attribute(f"{what}_nodeids"))
        for name, column, weight in zip(names, node.ints_attribute(f"{what}_ids"), node.floats(f"{what}_weights")):
            weights[self.places[name], column] += np.float32(weight)
        return ops.gather(Tensor._wrap(weights), self._leaves(node, ops))

    def _leaves(self, node, ops) -> Tensor:
        """(rows, trees): the place of the leaf."""
        x = _rows(node, ops)
        table = lambda values, dtype=np.int64: _constant(values, dtype)
        features, yes, no = table(node.ints_attribute("nodes_featureids")), table(self.yes), table(self.no)
        limits, missing = table(node.floats("nodes_values"), np.float32), node.ints_attribute("nodes_missing_value_tracks_true")
        place = ops.broadcast_to(table([self.roots]), shape=(sizes_of(x)[0], len(self.roots)))
        for _ in range(self.depth):
            value = ops.take_along_axis(x, ops.gather(features, place), axis=1)
            holds = self._holds(node, ops, value, ops.gather(limits, place), place)
            if missing and any(missing):
                holds = ops.logical_or(holds, ops.logical_and(ops.isnan(value), ops.gather(table(missing, bool), place)))
            place = ops.where(holds, ops.gather(yes, place), ops.gather(no, place))
        return place

    def _holds(self, node, ops, value: Tensor, limit: Tensor, place: Tensor) -> Tensor:
        """Whether the condition of a node holds; trees may mix conditions."""
        found = None
        for mode in sorted(set(self.modes) - {LEAF}):
            if mode not in COMPARISONS:
                node.refuse(f"trees with {mode} cannot be read")
            holds = getattr(ops, COMPARISONS[mode])(value, limit)
            mine = _constant([m == mode for m in self.modes], bool)
            found = holds if found is None else ops.where(ops.gather(mine, place), holds, found)
        return found
