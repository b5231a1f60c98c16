"""The one door to MLIR's Python bindings: contexts with our dialects loaded, locations, and diagnostics as errors.

Everything that is a habit of the bindings' version is kept here.
"""
from __future__ import annotations

import functools
import io
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
def _irdl_code(namespace: str, count: int) -> bytes:
    """The dialect's declaration as bytecode, which is read in half of the text's time."""
    code, context = io.BytesIO(), ir.Context()
    with context, ir.Location.unknown():
        ir.Module.parse(dialect_text(namespace)).operation.write_bytecode(code)
    return code.getvalue()


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
            _irdl.load_dialects(ir.Module.parse(_irdl_code(namespace, count)))


@dataclass(frozen=True)
class Diagnostic:
    """One message of MLIR: where and what. `location` is printed as file:line:column when it has them; notes follow in lines of their own."""

    location: str
    message: str
    severity: str = "error"
    notes: tuple["Diagnostic", ...] = ()

    def __str__(self) -> str:
        text = f"{self.severity}: {self.message}"
        return "\n".join([f"{self.location}: {text}" if self.location else text, *map(str, self.notes)])


def location_text(location: ir.Location) -> str:
    """``file:line:column`` of a location, looking through names, fusions and call sites; "" when unknown."""
    place = file_line(location)
    return f"{place[0]}:{max(place[1], 1)}:{max(place[2], 1)}" if place else ""


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
def collect_diagnostics(context: ir.Context, found: list[Diagnostic], others: list[Diagnostic] | None = None):
    """Errors that MLIR reports inside the block go into `found` instead of to standard error; warnings and remarks into `others`."""

    def handler(diagnostic) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            found.append(_read(diagnostic))
        elif others is not None:
            others.append(_read(diagnostic))
        return True

    attached = context.attach_diagnostic_handler(handler)
    try:
        yield found
    finally:
        attached.detach()


def _read(diagnostic) -> Diagnostic:
    notes = tuple(Diagnostic(location_text(note.location), note.message, "note") for note in diagnostic.notes)
    severity = str(getattr(diagnostic, "severity", "error")).rpartition(".")[2].lower()
    return Diagnostic(location_text(diagnostic.location), diagnostic.message, severity, notes)


def parse_module(text: str | bytes, context: ir.Context, filename: str = "-") -> ir.Module:
    """Parse text or bytecode and verify its structure. Raises VerificationError with file:line:column messages."""
    return _parsed(lambda: ir.Module.parse(text), context, filename)


def parse_file(path: str, context: ir.Context) -> ir.Module:
    """Parse a file, whose name the locations then have."""
    return _parsed(lambda: ir.Module.parseFile(path), context, path)


def _parsed(parse, context: ir.Context, filename: str) -> ir.Module:
    found: list[Diagnostic] = []
    with context, ir.Location.unknown(), collect_diagnostics(context, found):
        try:
            return parse()
        except ir.MLIRError as error:
            lines = [_read(d) for d in error.error_diagnostics] or found
            message = "\n".join(f"{filename}:{str(d)[2:]}" if str(d).startswith("-:") else str(d) for d in lines)
            raise VerificationError(message or f"{filename}:1:1: error: {error}") from None
