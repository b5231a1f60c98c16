"""From the om dialect to machine code, stage by stage.

`stages` shows each stage's text, `lower` stops at one, `register_pass` adds a pass of one's own.
"""
from .registry import register_pass  # noqa: F401  needs no MLIR

_LAZY = {"stages": "compilation", "lower": "compilation", "STAGES": "compilation", "run_pipeline": "pipeline", "parse_pipeline": "pipeline"}


def __getattr__(name: str):
    import importlib

    if name not in _LAZY:
        raise AttributeError(f"module 'onemlir.lowering' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
