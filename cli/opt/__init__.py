"""`onemlir-opt`: run passes on a file of MLIR, as mlir-opt does.

The command line is read in `arguments`, a file is taken apart in `sections`, each section runs in a process of its own (`isolate`), so
that an assertion of MLIR's libraries becomes a message and a reproducer; `transform` is what that process does.
"""
from __future__ import annotations

import gc
import os
import sys

from ..source import leave_output, message, open_streams, reason


def main(arguments: list[str] | None = None) -> None:
    """Entry point. Exit status 0; 1 when the input is invalid, a pass fails or diagnostics differ from the expected ones; 2 for a wrong
    command line."""
    if arguments is not None:
        sys.exit(_status(arguments))
    open_streams()
    gc.disable()  # imports make much that lives as long as the process
    status = _status(sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)  # taking libraries and interpreter down in order takes as long as a small file


def _status(arguments: list[str]) -> int:
    try:
        status = run(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has seen enough
        leave_output()
        return 1
    except KeyboardInterrupt:
        return 130


def run(arguments: list[str]) -> int:
    """The exit status of a command line."""
    from ...errors import OnemlirError
    from .arguments import parse_arguments, WrongCommandLine

    try:
        request = parse_arguments(arguments)
        if request.help or request.show_dialects or request.version:
            from . import manual

            print(manual.help_text() if request.help else manual.version_text() if request.version else manual.dialects_text())
            return 0
        from .sections import process

        return 0 if process(request) else 1
    except WrongCommandLine as error:
        print(f"onemlir-opt: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"onemlir-opt: {reason(error)}", file=sys.stderr)
        return 1
    except OnemlirError as error:
        print(message("onemlir-opt", error), file=sys.stderr)
        return 1
