"""The lit suite as pytest cases, one for each file."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent
FILES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.mlir") if ".lit-output" not in path.parts and "Output" not in path.parts)
LIT = "from lit.main import main; main()"
FOLDERS = sorted({str(path.parent) for path in FILES})


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder(folder, tmp_path):
    """All .mlir files directly in a folder of tests."""
    files = [str(ROOT / path) for path in FILES if str(path.parent) == folder]
    environment = {**os.environ, "LIT_OUTPUT": str(tmp_path)}
    command = [sys.executable, "-c", LIT, "-v", "--workers=1", *files]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0 and "Passed" in result.stdout, result.stdout + result.stderr


def test_lit_fails_on_a_wrong_check(tmp_path):
    """The harness itself can fail: a CHECK line that does not hold is reported."""
    (tmp_path / "wrong.mlir").write_text("// RUN: onemlir-opt %s | FileCheck %s\n// CHECK: not in the output\nmodule {}\n")
    (tmp_path / "lit.cfg.py").write_text("import os\nfrom onemlir.testing.lit_config import configure\n\n"
                                         "configure(config, lit_config, name='own', source_root=os.path.dirname(__file__))\n")
    result = subprocess.run([sys.executable, "-c", LIT, "-v", str(tmp_path)], capture_output=True, text=True)
    assert result.returncode == 1 and "not in the output" in result.stdout
