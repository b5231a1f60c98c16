"""The cases of ONNX's backend test suite that do not pass, each with its reason. Reviewed: a case that passes must not be here.

`PATTERNS` maps a regular expression for names (without ``_cpu``) to a reason; the first that matches counts.
"""
from __future__ import annotations

import re

TEXT = "text: the dialect has numeric tensors alone"
RANDOM = "random numbers: a compiled model gives the same outputs for the same inputs"
IMAGE = "decodes image files"
HALF = "f16: the reference rounds after every step, the compiled model once; they differ by more than the tolerance"
BY_PROCESSOR = {HALF}
"""Reasons that come from rounding: on a processor with other vectors such a case may pass."""
PATTERNS = {
    r"test_(strnorm|string_|regex_|equal_string|strsplit)": TEXT,
    r"test_ai_onnx_ml_label_encoder_": TEXT,
    r"test_ai_onnx_ml_tree_ensemble_": "the operator TreeEnsemble: trees are read in the form of TreeEnsembleRegressor and TreeEnsembleClassifier",
    r"test_(image_decoder)": IMAGE,
    r"test_bernoulli": RANDOM,
    r"test_training_dropout(_default)?(_mask)?$": RANDOM,
    r"test_gradient_": "training: the operator differentiates a graph",
    r"test_loop16_seq_none$": "fault of the suite: its comparison fails on sequences with rank-0 elements, whatever the outputs",
    r"test_dft_inverse(_opset19)?$": "fault of the suite: expects the rounding noise of its own transform (2e-7 where the result is 0, tolerance 1e-7)",
    r"test_resize_downsample_scales_(cubic|linear)_align_corners$":
        "the reference divides by scale * size - 1 before rounding; the standard's formula and onnxruntime use the rounded size",
    r"test_attention_4d_causal_fp16_expanded$": HALF,
}


def reason_of(case: str) -> str | None:
    """Why a case is refused, or None."""
    name = case.removesuffix("_cpu")
    return next((reason for pattern, reason in PATTERNS.items() if re.match(pattern, name)), None)
