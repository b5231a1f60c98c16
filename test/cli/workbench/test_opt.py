"""What lit cannot say about `onemlir-opt`: crashes, exit codes, upstream's list of passes, time to start."""
import os
import subprocess
import sys

import pytest
from mlir import ir
from mlir.passmanager import PassManager

import onemlir as om
from onemlir.cli import opt
from onemlir.cli.opt.isolate import Crash, isolated
from onemlir.cli.opt.manual import group_of, upstream_passes
from onemlir.dialect import bindings
from onemlir.lowering.pipeline import run_pipeline
from onemlir.lowering.registry import PASSES

IDENTITY = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"


@pytest.fixture
def crashing():
    om.lowering.register_pass("crash")(lambda module: os.abort())
    yield
    del PASSES["crash"]


def test_a_crash_is_a_message_and_a_reproducer(crashing, tmp_path, capfd):
    source, reproducer = tmp_path / "m.mlir", tmp_path / "r.mlir"
    source.write_text(IDENTITY)
    with pytest.raises(SystemExit) as end:
        opt.main([str(source), "--om-cse", "--crash", "--om-dce", f"--mlir-pass-pipeline-crash-reproducer={reproducer}"])
    assert end.value.code == 1
    assert "pass 'crash' ended the process (signal SIGABRT)" in capfd.readouterr().err
    assert reproducer.read_text() == "// configuration: --pass-pipeline='builtin.module(om-cse,crash)'\n" + IDENTITY


def test_a_crash_leaves_the_other_sections(crashing, tmp_path, capfd):
    source = tmp_path / "m.mlir"
    source.write_text(IDENTITY + "// -----\n" + IDENTITY)
    with pytest.raises(SystemExit):
        opt.main([str(source), "--split-input-file", "--crash"])
    assert capfd.readouterr().err.count("ended the process") == 2


def test_an_interrupt_in_a_walk_is_no_failure_of_the_pass():
    """The bindings make a RuntimeError of what a callback raises."""
    def interrupted(operation):
        raise KeyboardInterrupt

    om.lowering.register_pass("stopped")(lambda module: module.operation.walk(interrupted))
    try:
        with pytest.raises(KeyboardInterrupt):
            run_pipeline(bindings.parse_module(IDENTITY, bindings.new_context()), ["stopped"])
    finally:
        del PASSES["stopped"]


def test_isolated():
    assert isolated(lambda progress: 3) == 3
    assert isolated(lambda progress: progress("here") or sys.exit(5)) == Crash("exit status 1", "here")


def test_exit_codes(tool):
    run = lambda *flags, text=IDENTITY: subprocess.run([tool("onemlir-opt"), *flags], input=text, capture_output=True, text=True)
    assert run().returncode == 0
    assert run("--verify-each=maybe").returncode == 2
    assert run("--no-such-pass").returncode == 1
    invalid = run(text=IDENTITY.replace("return %x", "return %y"))
    assert invalid.returncode == 1 and invalid.stdout == "" and invalid.stderr.startswith("-:2:")


def test_every_listed_upstream_pass_exists():
    with ir.Context():
        for name in upstream_passes():
            PassManager.parse(f"any({name})")
    assert len(upstream_passes()) > 250


@pytest.mark.parametrize(("name", "group"), [("canonicalize", "general"), ("convert-scf-to-cf", "conversion"), ("one-shot-bufferize", "bufferization"),
                                             ("affine-loop-unroll", "affine"), ("finalize-memref-to-llvm", "conversion")])
def test_groups(name, group):
    assert group_of(name) == group


def test_start_up_imports_nothing_slow():
    """What a run without passes imports: how long that takes is printed by test/bench/startup.py."""
    program = "import sys; from onemlir.cli import opt; opt.run(['-']); print(*sys.modules, file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", program], input="module {}", capture_output=True, text=True)
    loaded = {name for name in result.stderr.split()}
    assert "mlir.ir" in loaded and "onemlir.dialect.bindings" in loaded
    slow = {"rich", "typer", "click", "onnx", "torch", "safetensors", "importlib.metadata", "asyncio", "mlir.dialects._ods_common",
            "onemlir.frontend", "onemlir.runtime", "onemlir.traced"}
    assert loaded & slow == set()
