"""LLVM IR and assembly with the op of the om stage that each line comes from: the numbers of the ops travel as line numbers of debug
information."""
from __future__ import annotations

import re

from mlir import ir
from mlir.passmanager import PassManager

from .record import Line, MARK

FILE = "om"
LOCATION = re.compile(r"^!(\d+) = .*!DILocation\(line: (\d+)")
USE = re.compile(r", !dbg !(\d+)")
METADATA = re.compile(r"^!\d+ = (?:distinct )?!DI|^!llvm\.dbg")


def machine_forms(module: ir.Module) -> dict[str, list[Line]]:
    """Lines of LLVM IR and of assembly of a module in the LLVM dialect whose locations carry marks. The module's locations are lost."""
    from ...lowering.llvm import assembly, llvm_ir

    with module.context, ir.Location.unknown():
        marks: set[int] = set()
        module.operation.walk(lambda operation: _numbered(operation, marks))
        PassManager.parse("builtin.module(ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly})").run(module.operation)
    forms = {"llvm-ir": ir_lines(llvm_ir(module)), "assembly": assembly_lines(assembly(module))}
    return {name: [line if line.op in marks else Line(line.text) for line in lines] for name, lines in forms.items()}


def _numbered(operation: ir.Operation, marks: set[int]) -> ir.WalkResult:
    """The mark in a location as a line number; line 0 says that there is none."""
    found = re.search(re.escape(MARK) + r"(\d+)", str(operation.location))
    if found:
        marks.add(int(found.group(1)))
    operation.location = ir.Location.file(FILE, int(found.group(1)) + 1 if found else 0, 0)
    return ir.WalkResult.ADVANCE


def ir_lines(text: str) -> list[Line]:
    """Without the debug information, from which the marks are read."""
    lines = text.splitlines()
    numbers = {match.group(1): int(match.group(2)) for match in map(LOCATION.match, lines) if match}
    return [_ir_line(line, numbers) for line in lines if not METADATA.match(line)]


def _ir_line(line: str, numbers: dict[str, int]) -> Line:
    used = USE.search(line)
    number = numbers.get(used.group(1), 0) if used else 0
    text = re.sub(r" !dbg !\d+", "", USE.sub("", line))
    return Line(text, number - 1 if number and line.startswith(" ") else None)


def assembly_lines(text: str) -> list[Line]:
    """Without directives of debug information; what follows a `.loc` comes from its op."""
    found, current, hidden = [], None, False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(".section"):
            hidden = ".debug" in stripped
        elif stripped.startswith(".text"):
            hidden = False
        if stripped.startswith(".loc"):
            number = int(stripped.split()[2])
            current = number - 1 if number else None
        elif not hidden and not _is_debug(stripped):
            instruction = line.startswith("\t") and not stripped.startswith(".")
            found.append(Line(line.partition("# om:")[0].rstrip(), current if instruction else None))
            current = None if stripped.startswith(".cfi_endproc") else current
    return found


def _is_debug(line: str) -> bool:
    return line.startswith((".file", ".Ltmp", ".Lfunc_begin", ".cfi_")) or re.match(r"\.L(?:debug|info)_\w+:", line) is not None


def functions(lines: list[Line]) -> list[tuple[str, list[Line]]]:
    """Assembly by function; "" names what stands before, between and behind them."""
    parts: list[tuple[str, list[Line]]] = [("", [])]
    for line in lines:
        label = re.match(r"(?!\.L)([\w.$]+):", line.text)
        if label:
            parts.append((label.group(1), []))
        parts[-1][1].append(line)
        if line.text.startswith(".Lfunc_end"):
            parts.append(("", []))
    return [part for part in parts if part[1]]
