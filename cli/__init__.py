"""The command-line tools: `onemlir` (commands, one file each) and `onemlir-opt`, `onemlir-translate`."""
from __future__ import annotations

import sys


def main() -> None:
    """Entry point of `onemlir`: a refusal of the library becomes one message and exit status 1."""
    from ..errors import OnemlirError
    from .commands import app

    try:
        app()
    except (OnemlirError, OSError) as error:
        name = f"{type(error).__name__}: " if isinstance(error, OnemlirError) else ""
        print(f"onemlir: {name}{error}", file=sys.stderr)
        sys.exit(1)
