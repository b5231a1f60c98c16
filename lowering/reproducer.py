"""What a failing pass leaves behind: a .mlir file with the pipeline in its first line, which `onemlir-opt --run-reproducer` runs."""
from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Iterable


def reproducer_text(module_text: str, steps: Iterable[str]) -> str:
    """The file's content: the module before the first pass, the passes up to the one that failed."""
    return f"// configuration: --pass-pipeline='builtin.module({','.join(steps)})'\n{module_text}"


def write_reproducer(module_text: str, steps: Iterable[str]) -> pathlib.Path | None:
    """Write a reproducer into the folder that ONEMLIR_REPRODUCERS names, else a temporary one; None where that cannot be done."""
    try:
        folder = os.environ.get("ONEMLIR_REPRODUCERS")
        if folder:
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(prefix="onemlir-reproducer-", suffix=".mlir", dir=folder or None)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(reproducer_text(module_text, steps))
        return pathlib.Path(path)
    except OSError:
        return None
