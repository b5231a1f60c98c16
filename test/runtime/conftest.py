"""Compile a module of linalg on tensors, through upstream's loops, into a Session."""
import pytest
from mlir import ir
from mlir.passmanager import PassManager

from onemlir.lowering.buffers import bufferize, plan_memory
from onemlir.lowering.llvm import to_llvm
from onemlir.runtime import Session
from onemlir.runtime.engine import compile_module

LOOPS = "func.func(convert-linalg-to-parallel-loops)"


def compile_text(text, messages=None, loops=LOOPS, loops_first=False):
    with ir.Context() as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(text)
        bufferize(module)
        steps = [lambda: plan_memory(module), lambda: PassManager.parse(f"builtin.module({loops})").run(module.operation)]
        for step in reversed(steps) if loops_first else steps:
            step()
        to_llvm(module)
        return compile_module(module, messages=messages)


@pytest.fixture
def build():
    def build(text, inputs, outputs, parameters=(), threads=1, **options):
        return Session(compile_text(text, **options), inputs, outputs, parameters, threads=threads)

    return build
