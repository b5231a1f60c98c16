"""Damaged models: refused by FormatError or UnsupportedOpError, or read; no mutant ends or hangs the process, or raises anything else."""
import re

import pytest

from fuzz import run_mutants

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize("first, options", [(0, ()), (100_000, ("--compile",))], ids=["read", "compile"])
def test_mutants(first, options):
    results = run_mutants(first, 300 if not options else 40, options=options)
    assert [f"{r['name']}: {r['status']} {r['message']}" for r in results.values() if r["status"] not in ("read", "refused")] == []
    refused = [r["message"] for r in results.values() if r["status"] == "refused"]
    assert len(refused) > len(results) / 4, "mutants should be damaged"
    assert len(refused) < len(results), "some mutants are models still"
    wrong = [m for m in refused if not re.match("FormatError|UnsupportedOpError|NeedsConstant", m)]
    assert wrong == [] or options
