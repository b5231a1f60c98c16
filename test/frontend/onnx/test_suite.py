"""ONNX's own backend test suite on compiled models, all CPU cases."""
import os

import pytest

from refused import BY_PROCESSOR, PATTERNS, reason_of
from suite import run_cases

pytestmark = pytest.mark.timeout(1800)
REFUSALS = {"UnsupportedOpError", "NeedsConstant", "FormatError"}


@pytest.fixture(scope="module")
def results():
    return run_cases(workers=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2, timeout=600)


def test_no_case_ends_or_hangs_its_process(results):
    assert [name for name, r in results.items() if r["status"] in ("crash", "timeout")] == []


def test_all_but_the_refused_cases_pass(results):
    failed = [f"{name}: {r['status']} {r['message'][:300]}" for name, r in results.items() if r["status"] != "pass" and reason_of(name) is None]
    assert failed == []


def test_enough_cases_pass(results):
    assert sum(r["status"] == "pass" for r in results.values()) >= 1900


def test_the_refused_cases_fail(results):
    """The list has no case that passes by now, and no pattern without a case."""
    passing = [name for name, r in results.items() if r["status"] == "pass" and reason_of(name) not in (None, *BY_PROCESSOR)]
    reasons = {reason_of(name) for name in results}
    assert passing == [] and [reason for reason in PATTERNS.values() if reason not in reasons] == []


def test_refusals_are_errors_of_the_library(results):
    wrong = [f"{name}: {r['status']}" for name, r in results.items()
             if r["status"] not in REFUSALS | {"pass"} and (reason_of(name) or "").startswith(("text", "random", "decodes", "trees", "training"))]
    assert wrong == []
