"""The Python in the tutorials runs, page by page, each in a process of its own."""
import pathlib
import re
import subprocess
import sys

import pytest

PAGES = sorted((pathlib.Path(__file__).resolve().parent.parent / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page(path, tmp_path):
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
    assert code, "a tutorial without code"
    program = tmp_path / f"{path.stem}.py"
    program.write_text(code)
    result = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_reference_of_passes_is_current():
    result = subprocess.run([sys.executable, str(PAGES[0].parent.parent / "generate_passes.py"), "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
