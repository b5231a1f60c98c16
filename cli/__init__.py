"""The command-line tools: `onemlir` (commands, one file each) and `onemlir-opt`, `onemlir-translate`."""
from __future__ import annotations


def main() -> None:
    """Entry point of `onemlir`: a refusal of the library becomes one message and exit status 1."""
    from .commands import app
    from .source import ending, open_streams

    open_streams()
    with ending("onemlir"):
        app()
