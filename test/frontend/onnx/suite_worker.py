"""Runs cases of ONNX's backend test suite: reads their names from standard input, writes one line of JSON for each to standard output."""
import gc
import json
import os
import sys
import time
import traceback
import unittest
import warnings


def load_cases() -> dict:
    """The suite's CPU cases as functions, by name."""
    warnings.simplefilter("ignore")
    import onnx.backend.test

    from onemlir.frontend.onnx import backend

    suite = onnx.backend.test.BackendTest(backend.OnemlirBackend, __name__)
    cases = {}
    for category, case in suite.test_cases.items():
        instance = case()
        cases |= {name: getattr(instance, name) for name in dir(case) if name.startswith("test_") and name.endswith("_cpu")}
    return cases


class Interpreted:
    """Stands for a session: runs a program op by op with the declarations' references."""

    def __init__(self, program):
        from onemlir.dialect.interpreter import Interpreter
        from onemlir.dialect.structure import rebuild

        self.program, self.interpreter, self.rebuild = program, Interpreter, rebuild

    def __call__(self, *inputs):
        import numpy as np

        with self.program.context:
            outputs = self.interpreter(self.program.weights).run(self.program.main, list(map(np.asarray, inputs)))
        return self.rebuild(self.program.structure, [np.asarray(o) for o in outputs])


def interpret() -> None:
    """Let the backend read models and interpret them, without compiling."""
    from onemlir.frontend.onnx import backend, read_onnx

    backend.CompiledModel._compiled = lambda self, *options: Interpreted(read_onnx(self.model, *options))


def run_case(function) -> tuple[str, str]:
    """"pass", "skip", or the class of the error; and its message."""
    try:
        function()
        return "pass", ""
    except unittest.SkipTest as error:
        return "skip", str(error)
    except BaseException as error:  # what a case raises is its result
        text = str(error) if os.environ.get("SUITE_TRACE") is None else traceback.format_exc()
        return type(error).__name__, text


def main() -> None:
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what cases print is no result
    if "--interpret" in sys.argv:
        interpret()
    cases = load_cases()
    gc.freeze()  # the suite's data stays: collections need not visit it
    print(json.dumps({"cases": sorted(cases)}), file=results, flush=True)
    for line in sys.stdin:
        name, start = line.strip(), time.perf_counter()
        status, message = run_case(cases[name])
        print(json.dumps({"name": name, "status": status, "message": message, "seconds": round(time.perf_counter() - start, 3)}), file=results, flush=True)


if __name__ == "__main__":
    main()
