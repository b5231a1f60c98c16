"""Whether a candidate still fails as the original does."""
from __future__ import annotations

import os
import pathlib
import shlex
import subprocess
import sys
import sysconfig
import tempfile

CONFIGURATION = "// configuration:"


class Criterion:
    """A shell command in which {} stands for the file (or is appended). A candidate is kept when the command ends with the exit status that
    it had for the original, not 0, and its output holds `message`."""

    def __init__(self, command: str, message: str | None = None, seconds: float = 60):
        self.command, self.message, self.seconds = command, message, seconds
        self.status: int | None = None
        self.runs = 0
        self.header = ""
        self._seen: dict[str, bool] = {}

    def start(self, text: str) -> bool:
        """Run on the original; whether it fails at all. The first line of a reproducer is kept in every candidate."""
        self.header = text.partition("\n")[0] + "\n" if text.startswith(CONFIGURATION) else ""
        self.status = self._run(text.removeprefix(self.header))
        return self.status != 0

    def __call__(self, text: str) -> bool:
        if text not in self._seen:
            self._seen[text] = self._run(text) == self.status
        return self._seen[text]

    def filled(self, path: pathlib.Path) -> str:
        quoted = shlex.quote(str(path))
        return self.command.replace("{}", quoted) if "{}" in self.command else f"{self.command} {quoted}"

    def _run(self, text: str) -> int:
        """The exit status; 0 when the message is not there or the time is over."""
        self.runs += 1
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "candidate.mlir"
            path.write_text(self.header + text, encoding="utf-8")
            try:
                result = subprocess.run(self.filled(path), shell=True, capture_output=True, text=True, errors="replace",
                                        stdin=subprocess.DEVNULL, timeout=self.seconds, env=environment())
            except subprocess.TimeoutExpired:
                return 0
        found = self.message is None or self.message in result.stdout + result.stderr
        return result.returncode if found else 0


def environment() -> dict[str, str]:
    """The environment, in which `onemlir-opt` is found also where the virtual environment is not activated."""
    folders = [os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    return {**os.environ, "PATH": os.pathsep.join(folders)}
