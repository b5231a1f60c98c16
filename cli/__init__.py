"""The command-line tools: `onemlir` (commands, one file each) and `onemlir-opt`, `onemlir-translate`."""
from __future__ import annotations

import os
import sys


def main() -> None:
    """Entry point of `onemlir`: a refusal of the library becomes one message and exit status 1."""
    from ..errors import OnemlirError
    from .commands import app
    from .source import open_streams, reason

    open_streams()
    try:
        app()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        print(f"onemlir: {reason(error)}", file=sys.stderr)
        sys.exit(1)
    except OnemlirError as error:
        print(f"onemlir: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
