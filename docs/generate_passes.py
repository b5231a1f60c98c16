"""Writes docs/reference/passes.md from the registry of passes.

    python docs/generate_passes.py            # write
    python docs/generate_passes.py --check    # exit 1 when the page is out of date
"""
from __future__ import annotations

import inspect
import os
import pathlib
import sys

os.environ["ONEMLIR_EXTENSIONS"] = "0"

from onemlir.lowering.registry import known_passes, Pass  # noqa: E402
from onemlir.lowering.compilation import STAGES  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parent / "reference" / "passes.md"


def section(definition: Pass) -> str:
    """One pass: documentation, options, what it accepts."""
    options = "".join(f"* `{name}` ({type(default).__name__}, {default!r})\n" for name, default in definition.options.items())
    lines = [f"## {definition.name}", "", inspect.getdoc(definition.apply) or "", ""]
    lines += ["Options:", "", options] if options else []
    lines += [f"Accepts: {'; '.join(contract_text(c) for c in definition.requires)}.", ""] if definition.requires else []
    return "\n".join(lines)


def contract_text(contract) -> str:
    """``no tensors: all values are …`` of a function of `lowering.contracts`."""
    meaning = (inspect.getdoc(contract) or "").rstrip(".")
    return f"`{contract.__name__}` ({meaning[:1].lower()}{meaning[1:]})"


def page() -> str:
    passes = [p for p in known_passes().values() if p.builtin]
    names = lambda stage: ", ".join(f"`{name}`" for name in stage.passes) or "as recorded"
    stages = "\n".join(f"| `{stage.name}` | {names(stage)} |" for stage in STAGES)
    return ("# Passes\n\nGenerated from the registry by `python docs/generate_passes.py`. Upstream's passes are listed by `onemlir-opt --help`.\n\n"
            f"| stage | passes that lead to it |\n| --- | --- |\n{stages}\n\n" + "\n".join(map(section, passes)))


if __name__ == "__main__":
    if "--check" in sys.argv:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
        sys.exit(0 if current else f"{PAGE.name} is out of date: run python docs/generate_passes.py")
    PAGE.write_text(page(), encoding="utf-8")
