"""The one door to MLIR's Python bindings: contexts with our dialects loaded, locations, and diagnostics as errors.

Everything that is a habit of the bindings' version is kept here.
"""
from __future__ import annotations

import functools
import sys
import types
from contextlib import contextmanager
from dataclasses import dataclass

from mlir import ir
from mlir._mlir_libs import _mlirDialectsIRDL as _irdl  # not mlir.dialects.irdl, whose op classes take long to import

from ..errors import VerificationError
from . import ops as _ops  # noqa: F401  the declarations
from .declare import REGISTRY
from .extensions import load_extensions
from .irdl import dialect_text

_loaded: dict[int, set[str]] = {}


@functools.lru_cache(maxsize=None)
def _irdl_text(namespace: str, count: int) -> str:
    return dialect_text(namespace)


def new_context() -> ir.Context:
    """A context with every declared dialect loaded; not multi-threaded, so that each may be used from a thread of its own."""
    context = ir.Context()
    context.enable_multithreading(False)
    context.emit_error_diagnostics = True
    load_dialects(context)
    return context


def load_dialects(context: ir.Context) -> None:
    """Load the dialects of all declared ops into a context that has none of them."""
    load_extensions("onemlir.ops")
    namespaces = sorted({op.namespace for op in REGISTRY.values()})
    with context, ir.Location.unknown():
        for namespace in namespaces:
            # The bindings look for a Python module of the dialect at each op that is made; they search no further when they find one.
            sys.modules.setdefault(f"mlir.dialects.{namespace}", types.ModuleType(f"mlir.dialects.{namespace}"))
            count = sum(op.namespace == namespace for op in REGISTRY.values())
            _irdl.load_dialects(ir.Module.parse(_irdl_text(namespace, count)))


@dataclass(frozen=True)
class Diagnostic:
    """One error of MLIR: where and what. `location` is printed as file:line:column when it has them."""

    location: str
    message: str

    def __str__(self) -> str:
        return f"{self.location}: error: {self.message}" if self.location else f"error: {self.message}"


def location_text(location: ir.Location) -> str:
    """``file:line:column`` of a location, looking through names, fusions and call sites; "" when unknown."""
    place = file_line(location)
    return f"{place[0]}:{place[1]}:{place[2]}" if place else ""


def file_line(location: ir.Location) -> tuple[str, int, int] | None:
    """File, line and column of a location, looking through names, fusions and call sites."""
    if location.is_a_file():
        return location.filename, location.start_line, location.start_col
    if location.is_a_name():
        return file_line(location.child_loc)
    if location.is_a_fused():
        return next((found for found in map(file_line, location.locations) if found), None)
    if location.is_a_callsite():
        return file_line(location.callee)
    return None


def module_path(location: ir.Location) -> str:
    """The path of the module that made an op, such as ``layers.0``; "" when there is none."""
    return location.name_str if location.is_a_name() else ""


@contextmanager
def collect_diagnostics(context: ir.Context, found: list[Diagnostic]):
    """Errors that MLIR reports inside the block go into `found` instead of to standard error."""

    def handler(diagnostic) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            found.append(Diagnostic(location_text(diagnostic.location), diagnostic.message))
        return True

    attached = context.attach_diagnostic_handler(handler)
    try:
        yield found
    finally:
        attached.detach()


def parse_module(text: str, context: ir.Context, filename: str = "-") -> ir.Module:
    """Parse and structurally verify a module. Raises VerificationError with file:line:column messages."""
    found: list[Diagnostic] = []
    with context, ir.Location.unknown(), collect_diagnostics(context, found):
        try:
            return ir.Module.parse(text)
        except ir.MLIRError as error:
            lines = [Diagnostic(_location_of(d), d.message) for d in error.error_diagnostics] or found
            message = "\n".join(str(d).replace("-:", f"{filename}:", 1) if str(d).startswith("-:") else str(d) for d in lines)
            raise VerificationError(message or str(error)) from None


def _location_of(diagnostic) -> str:
    return location_text(diagnostic.location)
