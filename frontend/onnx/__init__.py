"""Reading ONNX models. The files are named after the families of operators, as in `dialect.ops`; `read_onnx` is the door.

A user's own operator is registered with `reads` and composed of `onemlir.ops`.
"""
from .read import load_model, read_onnx
from .registry import reads

__all__ = ["load_model", "read_onnx", "reads", "backend"]


def __getattr__(name: str):
    if name == "backend":
        import importlib

        return importlib.import_module(".backend", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
