"""Documentation: every code block runs, page by page in the order of its blocks, and every link leads somewhere.

A fenced block of python or sh is run; one with a title is a file that the following blocks find. Blocks without a language are text.
"""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
PAGES = sorted(path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if "node_modules" not in path.parts)
RUN = ("python", "sh")

# Runs the blocks given on standard input as a list; python keeps its names from block to block.
DRIVER = """
import subprocess, sys
names = {"__name__": "__main__"}
for kind, code in eval(sys.stdin.read()):
    if kind == "python":
        exec(compile(code, "<block>", "exec"), names)
    else:
        subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True, stdin=subprocess.DEVNULL)
"""


def blocks(path: pathlib.Path) -> list[tuple[str, str, str]]:
    return BLOCK.findall(path.read_text(encoding="utf-8"))


def name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [p for p in PAGES if any(kind in RUN for kind, _, _ in blocks(p))], ids=name)
def test_blocks_run(path, tmp_path):
    steps = []
    for kind, title, code in blocks(path):
        if title:
            (tmp_path / title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / title).write_text(code, encoding="utf-8")
        elif kind in RUN:
            steps.append((kind, code))
    environment = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])}
    command = [sys.executable, "-c", DRIVER]
    result = subprocess.run(command, input=repr(steps), capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-4000:]


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_python_compiles(path):
    """Also what is only shown."""
    for kind, title, code in blocks(path):
        if kind == "python":
            compile(code, f"{name(path)} {title}", "exec")


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links(path):
    """Files that exist, and headings that they have."""
    for link in LINK.findall(re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)):
        if re.match(r"\w+:", link):
            continue
        target, _, anchor = link.partition("#")
        found = (path.parent / target).resolve() if target else path
        assert found.exists(), f"{name(path)}: {link}"
        assert not anchor or anchor in anchors(found), f"{name(path)}: {link}"


def anchors(path: pathlib.Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_site_builds_without_warnings(tmp_path):
    """Links within the site and the navigation are checked by mkdocs."""
    pytest.importorskip("mkdocs", reason="mkdocs-material is one of the test extras")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert result.returncode == 0 and "WARNING" not in result.stderr, result.stderr
    assert (tmp_path / "tutorials" / "first_model" / "index.html").exists()


def test_reference_of_passes_is_current():
    result = subprocess.run([sys.executable, str(ROOT / "docs" / "generate_passes.py"), "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
