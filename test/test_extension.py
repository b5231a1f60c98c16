"""docs/examples/extension, installed as what it is: a package that onemlir knows nothing of."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "examples" / "extension"
OPT = str(pathlib.Path(sys.executable).parent / "onemlir-opt")
LIT = "from lit.main import main; main()"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment in which the package is installed; its files are copied, so that nothing is built in the source."""
    folder = tmp_path_factory.mktemp("extension")
    shutil.copytree(SOURCE, folder / "source")
    options = ["-q", "--no-deps", "--no-build-isolation", "--target", str(folder / "site")]
    command = [sys.executable, "-m", "pip", "install", *options, str(folder / "source")]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode and "No module named" in result.stderr:
        pytest.skip("setuptools or pip is missing")
    assert result.returncode == 0, result.stderr
    return {**os.environ, "PYTHONPATH": str(folder / "site"), "LIT_OUTPUT": str(folder / "lit")}, folder / "source" / "tests"


def test_its_tests_pass(installed):
    environment, tests = installed
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", str(tests)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tests)
    assert result.returncode == 0, result.stdout + result.stderr


def test_its_lit_tests_pass(installed):
    environment, tests = installed
    result = subprocess.run([sys.executable, "-c", LIT, "-v", "--workers=1", str(tests)], capture_output=True, text=True, env=environment)
    assert result.returncode == 0 and "Passed: 3" in result.stdout, result.stdout + result.stderr


def test_without_extensions(installed):
    """ONEMLIR_EXTENSIONS=0 leaves it out: the op is then unknown."""
    environment, tests = installed
    without = {**environment, "ONEMLIR_EXTENSIONS": "0"}
    result = subprocess.run([OPT, str(tests / "set_beta.mlir")], capture_output=True, text=True, env=without)
    assert result.returncode == 1 and "unregistered dialect" in result.stderr


def test_an_extension_that_cannot_be_imported(tmp_path):
    """The error names the extension and says how to go on without it."""
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[onemlir.ops]\nbroken = no_such_module\n")
    result = subprocess.run([OPT], input="module {}", capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert result.returncode == 1 and "the extension 'broken'" in result.stderr and "ONEMLIR_EXTENSIONS=0" in result.stderr


CACHED = """
import numpy as np, onemlir as om
from onemlir.runtime.cached import registered_here
session = om.trace(lambda x: x * 3 + 1, om.zeros((3, 16))).session(threads=1)
print(registered_here(), session.cached)
"""


def test_the_compile_cache_knows_installed_extensions_by_version(installed, tmp_path):
    """With another version, without it, and with a package that tells no version the code is made again; the last is never kept."""
    environment, _ = installed
    info = next(pathlib.Path(environment["PYTHONPATH"]).glob("*.dist-info"))
    metadata = (info / "METADATA").read_text()
    environment = {**environment, "ONEMLIR_CACHE": str(tmp_path)}

    def run(**variables):
        command = [sys.executable, "-c", CACHED]
        result = subprocess.run(command, check=True, capture_output=True, text=True, env={**environment, **variables}, cwd=tmp_path)
        return result.stdout.split()

    assert [run(), run()] == [["False", "False"], ["False", "True"]]
    assert run(ONEMLIR_EXTENSIONS="0") == ["False", "False"]
    try:
        (info / "METADATA").write_text(metadata.replace("Version: ", "Version: 9."))
        assert run() == ["False", "False"]
        (info / "METADATA").write_text("")
        assert [run(), run()] == [["True", "False"]] * 2
    finally:
        (info / "METADATA").write_text(metadata)
