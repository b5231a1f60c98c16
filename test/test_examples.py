"""The documented examples run, each as a program of its own."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    result = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, timeout=280)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-4000:]
