"""The commands of `onemlir` and their options. Each lives in a file of its own and imports what it needs when it runs."""
from __future__ import annotations

import importlib
import os
from typing import Annotated, Optional

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="Compile machine-learning models: show, run, measure and export .onemodel and .onnx files.")

def _verify_each(value: bool) -> bool:
    if value:
        os.environ["ONEMLIR_VERIFY_EACH"] = "1"
    return value


def _file(*names: str, help: str):
    """An option that names a file to write, which is refused before any work where there is no folder for it."""
    def place(path: Optional[str]) -> Optional[str]:
        if path is not None:
            from ..dialect.output_file import check_place

            check_place(path)
        return path
    return typer.Option(*names, callback=place, help=help)


VerifyEach = Annotated[bool, typer.Option("--verify-each", callback=_verify_each,
                                          help="Verify after each pass, and what each accepts before.")]
Model = Annotated[str, typer.Argument(help="A .onemodel or .onnx file.")]


def _command(name: str):
    return importlib.import_module(f".{name}", __package__)


@app.command()
def demo(keep: Annotated[Optional[str], typer.Option(help="Folder in which to leave the files.")] = None) -> None:
    """Classify scanned digits: trace a trained model, show its IR, compile, run, save, export."""
    _command("demo").run(keep)


@app.command()
def show(
    model: Model,
    assumptions: Annotated[bool, typer.Option(help="List what the recording depends on.")] = False,
    locations: Annotated[bool, typer.Option(help="Print source lines and module paths.")] = False,
    stage: Annotated[Optional[str], typer.Option(help="Print this stage of the compilation instead of the om dialect.")] = None,
    short: Annotated[bool, typer.Option("--short", help="Print a short form for reading, with module paths as comments.")] = False,
    graph: Annotated[Optional[str], _file(help="Write the graph to this .svg file.")] = None,
    depth: Annotated[Optional[int], typer.Option(min=0, help="With --graph: levels of modules that are unfolded; all without.")] = None,
) -> None:
    """Print a model: IR, inputs, outputs, counts of parameters and operations."""
    if graph is not None:
        _command("show").write_graph(model, graph, depth)
        return
    if short:
        _command("show").print_short(model)
        return
    _command("show").run(model, assumptions, locations, stage)


@app.command()
def run(
    model: Model,
    inputs: Annotated[Optional[str], typer.Option(
        "--input", "-i", help="A .npz file with arrays by input name, or a .npy for a single input; random without.")] = None,
    output: Annotated[Optional[str], _file("--output", "-o", help="Write the outputs to this .npz file.")] = None,
    sizes: Annotated[Optional[list[str]], typer.Option("--size", help="Size of a symbolic axis for random inputs: batch=8.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of random inputs.")] = 0,
    threads: Annotated[Optional[int], typer.Option(min=1, help="Number of threads.")] = None,
    verify_each: VerifyEach = False,
) -> None:
    """Run a model on inputs from a file, or on random ones."""
    _command("run").run(model, inputs, output, sizes or [], seed, threads)


@app.command()
def bench(
    model: Annotated[Optional[str], typer.Argument(help="A .onemodel or .onnx file; without, the built-in families.")] = None,
    sizes: Annotated[Optional[list[str]], typer.Option("--size", help="Size of a symbolic axis: batch=8.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Number of threads, for every runner.")] = 1,
    rounds: Annotated[int, typer.Option(min=1, help="Interleaved rounds.")] = 15,
) -> None:
    """Measure a model: median and spread, beside onnxruntime when it is installed."""
    _command("bench").run(model, sizes or [], threads, rounds)


@app.command("import")
def import_(
    model: Annotated[str, typer.Argument(help="An .onnx file.")],
    output: Annotated[str, _file("--output", "-o", help="The .onemodel file to write.")],
) -> None:
    """Read an ONNX model and write it as a .onemodel file."""
    _command("import_").run(model, output)


@app.command()
def profile(
    model: Model,
    sizes: Annotated[Optional[list[str]], typer.Option("--size", help="Size of a symbolic axis: batch=8.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Number of threads.")] = 1,
    rounds: Annotated[int, typer.Option(min=1, help="Runs, of which the fastest counts.")] = 20,
    output: Annotated[Optional[str], _file("--output", "-o", help="Also write a bar chart to this .html file.")] = None,
) -> None:
    """Time per operation, with the source line, the share of the whole, GFLOP/s and GB/s."""
    _command("profile").run(model, sizes or [], threads, rounds, output)


@app.command()
def export(
    model: Model,
    output: Annotated[str, _file("--output", "-o", help="The .onnx or .onemodel file to write.")],
) -> None:
    """Convert between .onemodel and .onnx."""
    _command("export").run(model, output)


@app.command("compile")
def compile_model(
    model: Model,
    output: Annotated[str, _file(
        "--output", "-o", help="The file to write: .so or .dylib, .o, .a, or an executable without a suffix.")],
    target: Annotated[str, typer.Option(help="Another machine than this: aarch64-linux-gnu.")] = "",
    cpu: Annotated[str, typer.Option(
        help="A processor or level: native, x86-64-v3; several with commas, of which the best is chosen on loading.")] = "",
    threads: Annotated[Optional[int], typer.Option(
        min=1, help="Threads of a run unless the caller says otherwise; all processors without.")] = None,
    name: Annotated[Optional[str], typer.Option(help="Prefix of the C functions; the name of the file without.")] = None,
    weights: Annotated[Optional[str], _file(help="Write the weights to this file instead of into the library.")] = None,
    executable: Annotated[bool, typer.Option("--executable", help="Make a program that reads .npy or .npz and writes .npz.")] = False,
    isolate: Annotated[bool, typer.Option(help="Compile in a child process, so that a crash inside the compiler is a message.")] = True,
    seconds: Annotated[Optional[float], typer.Option(help="Time limit of the child process.")] = None,
    memory: Annotated[Optional[int], typer.Option(help="Memory limit of the child process, in MiB.")] = None,
    verify_each: VerifyEach = False,
) -> None:
    """Compile a model to a native library, object file, archive or program, with a C header."""
    _command("compile").run(model, output, memory, target=target, cpu=cpu, threads=threads, name=name, weights=weights,
                            executable=executable, isolate=isolate, time_limit=seconds)


@app.command()
def cache(clear: Annotated[bool, typer.Option("--clear", help="Remove all entries.")] = False) -> None:
    """List the compile cache, or clear it."""
    _command("cache").run(clear)


@app.command()
def reduce(
    file: Annotated[str, typer.Argument(help="A .mlir file on which the command fails.")],
    command: Annotated[str, typer.Option("--test", help="Shell command that fails; {} stands for the file, which is appended without.")],
    output: Annotated[Optional[str], _file("--output", "-o", help="The file to write; standard output without.")] = None,
    message: Annotated[Optional[str], typer.Option(help="Text that the command's output must contain.")] = None,
    seconds: Annotated[float, typer.Option(min=0, help="Time after which the command counts as not failing.")] = 60,
) -> None:
    """Shrink a failing module while a command keeps failing on it."""
    _command("reduce").run(file, command, output, message, seconds)


@app.command()
def bisect(
    model: Model,
    inputs: Annotated[Optional[str], typer.Option("--input", "-i", help="A .npz file with arrays by input name; random without.")] = None,
    sizes: Annotated[Optional[list[str]], typer.Option("--size", help="Size of a symbolic axis for random inputs: batch=8.")] = None,
    rtol: Annotated[float, typer.Option(help="Relative tolerance.")] = 1e-3,
    atol: Annotated[float, typer.Option(help="Absolute tolerance.")] = 1e-5,
    verify_each: VerifyEach = False,
) -> None:
    """Find the pass that changes the numbers: each stage against the reference."""
    _command("bisect").run(model, inputs, sizes or [], rtol, atol)


@app.command()
def explore(
    model: Model,
    output: Annotated[Optional[str], _file(
        "--output", "-o", help="The .html file; by default named as the model.")] = None,
    sizes: Annotated[Optional[list[str]], typer.Option("--size", help="Size of a symbolic axis for the measured run: batch=8.")] = None,
) -> None:
    """Write one page that shows the graph, every stage and what each pass did."""
    _command("explore").run(model, output, sizes or [])
