"""onemlir: a compiler for machine-learning models, written in Python on MLIR.

    import onemlir as om
    traced = om.trace(model, example, axes=("batch", None))   # record one run
    outputs = traced.session()(array)                         # compile and run
    traced.save_onnx("model.onnx")                            # or save, compile
"""
import importlib

from .errors import (CompileError, DTypeError, FormatError, FrozenValueWarning, GuardError, IndexRangeError, OnemlirError, ShapeError, TraceError,
                     UnsupportedOpError, VerificationError)

__version__ = "0.1.0"

# Where each public name lives. They are imported on first use, so that what needs only the runtime stays small.
_LAZY = {
    "Tensor": ".frontend.tensor", "tensor": ".frontend.tensor", "manual_seed": ".frontend.random", "no_grad": ".frontend.autograd",
    "enable_grad": ".frontend.autograd", "grad": ".frontend.transforms", "value_and_grad": ".frontend.transforms",
    "jit": ".frontend.transforms", "batches": ".frontend.data", "zeros": ".frontend.ops", "ones": ".frontend.ops", "full": ".frontend.ops", "empty": ".frontend.ops",
    "zeros_like": ".frontend.ops", "ones_like": ".frontend.ops", "full_like": ".frontend.ops", "arange": ".frontend.ops", "linspace": ".frontend.ops",
    "eye": ".frontend.ops", "rand": ".frontend.ops", "randn": ".frontend.ops", "randint": ".frontend.ops",
    "trace": ".traced", "Tracer": ".traced", "TracedModel": ".traced", "load": ".traced", "Session": ".traced", "from_onnx": ".traced",
    "Axis": ".frontend.axis", "compile_backend": ".frontend.torch.backend",
    **{name: ".dialect.dtypes" for name in ("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
}
# What torch.jit has beside `trace`.
_OF_TORCH_JIT = {
    "trace_module": ": record each method, om.trace(model.method, *examples)", "script": ": om.trace records torch.jit.script(model) too",
    "freeze": ": a recording is frozen", "optimize_for_inference": ": a session is optimised", "save": ": write with traced.save(path)",
}
_MODULES = ("nn", "ops", "optim", "dialect", "lowering", "runtime", "frontend")

__all__ = ["CompileError", "DTypeError", "FormatError", "FrozenValueWarning", "GuardError", "IndexRangeError", "OnemlirError", "ShapeError", "TraceError",
           "UnsupportedOpError", "VerificationError", *_LAZY, *_MODULES]


def __getattr__(name: str):
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name], __name__), name)
    elif name in _MODULES:
        value = importlib.import_module(f".{name}", __name__)
    elif name == "bool_":
        from .dialect.dtypes import bool_ as value
    else:
        raise AttributeError(f"module 'onemlir' has no attribute '{name}'{_OF_TORCH_JIT.get(name, '')}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
