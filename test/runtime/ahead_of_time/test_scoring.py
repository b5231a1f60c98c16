"""The examples of scoring a dataset with sessions that are sent to worker processes."""
import importlib.util
import pathlib
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from .models import tiny

EXAMPLES = pathlib.Path(__file__).parents[3] / "docs" / "examples" / "scoring"


@pytest.mark.parametrize("program, package", [("with_dask.py", "distributed"), ("with_ray.py", "ray")])
def test_example(tmp_path, program, package):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}")
    result = subprocess.run([sys.executable, EXAMPLES / program, "50000"], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert result.returncode == 0 and "rows a second" in result.stdout, result.stderr[-3000:]


def test_a_session_is_sent_to_processes():
    session = tiny().session(threads=1)
    parts = [np.full((n, 16), n, np.float32) for n in (1, 2, 3)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for part, result in zip(parts, pool.map(session, parts)):
            np.testing.assert_array_equal(result, part * 3 + 1)
