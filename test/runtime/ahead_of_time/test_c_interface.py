"""Libraries called from C: the examples built by CMake, what is exported, what is needed, memory, threads."""
import importlib.util
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import onemlir as om
from onemlir import ops
from onemlir.errors import CompileError

from .models import CPU, gathering, large, mlp, mlp_by_numpy, tiny

EXAMPLES = pathlib.Path(__file__).parents[3] / "docs" / "examples" / "c"
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
GRID = (np.arange(80, dtype=np.float32) / 80).reshape(5, 16)
QUERIES = {f"net_{kind}_{what}" for kind in ("input", "output") for what in ("count", "name", "dtype", "ndim", "shape", "axis")}
FUNCTIONS = {f"net_{what}" for what in ("run", "run_with", "run_tensors", "error", "free", "output_sizes", "version", "threads", "supported",
                                        "workspace_create", "workspace_destroy")}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The models of the examples."""
    folder = tmp_path_factory.mktemp("models")
    spec = importlib.util.spec_from_file_location("make_model", EXAMPLES / "make_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(folder, CPU)
    return folder


@pytest.fixture(scope="module")
def built(folder, tmp_path_factory):
    """The examples."""
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")
    build = tmp_path_factory.mktemp("build")
    subprocess.run(["cmake", "-S", EXAMPLES, "-B", build, f"-DMODELS={folder}"], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", build], check=True, capture_output=True)
    return build


def compile_c(folder, text, libraries, *flags):
    (folder / "program.c").write_text(text)
    program = folder / "program"
    command = ["cc", "-O1", "-Wall", "-Werror", "program.c", *libraries, *flags, "-o", program, "-Wl,-rpath,$ORIGIN", "-lm", "-lpthread", "-ldl"]
    subprocess.run(command, cwd=folder, check=True)
    return program


@pytest.mark.parametrize("program", ["classify", "classify_static", "own_threads"])
def test_examples_give_numpys_numbers(built, program):
    result = subprocess.run([built / program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    np.testing.assert_allclose(np.array(result.stdout.split(), np.float64).reshape(5, 4), mlp_by_numpy(mlp()[0], GRID), rtol=1e-5, atol=1e-6)
    if program != "own_threads":
        assert result.stderr.strip() == "axis 1 of input 'input' must be 16: found 15, expected 16"


@pytest.mark.parametrize("threshold", [0.5, 0.1, 9.0])
def test_example_of_outputs_whose_size_depends_on_data(built, threshold):
    x = np.array([0.25, 0.75, -1, 2, 0.5], np.float32)
    printed = subprocess.run([built / "allocated", str(threshold)], check=True, capture_output=True, text=True).stdout
    assert printed.split("\n")[:-1] == [f"{i} {x[i]:g}" for i in np.nonzero(x > threshold)[0]]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize("program", ["classify", "allocated"])
def test_valgrind_finds_nothing(built, program):
    command = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", built / program]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_exported_symbols(folder):
    lines = subprocess.run(["nm", "-D", "--defined-only", folder / "net.so"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert {line.split()[-1] for line in lines} == FUNCTIONS | QUERIES | {"onemlir_library"}
    header = (folder / "net.h").read_text()
    assert all(f"{name}(" in header for name in FUNCTIONS | QUERIES)


def test_needs_the_system_libraries_alone(folder):
    text = subprocess.run(["readelf", "-dW", folder / "net.so"], check=True, capture_output=True, text=True).stdout
    needed = {line.split("[")[1].split("]")[0] for line in text.splitlines() if "(NEEDED)" in line}
    assert needed <= {"libc.so.6", "libm.so.6", "libpthread.so.0"}
    segments = subprocess.run(["readelf", "-lW", folder / "net.so"], check=True, capture_output=True, text=True).stdout
    stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
    assert "RWE" not in stack


def test_header_is_valid_c_and_cpp(folder):
    for language, standard in (("c", "c99"), ("c++", "c++11")):
        command = ["cc", "-x", language, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"]
        subprocess.run(command, input='#include "net.h"\n#include "filter.h"\n', text=True, cwd=folder, check=True)


MANY_THREADS = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <dlfcn.h>
#include "big.h"
enum { BATCH = 4, CALLS = 10000, THREADS = 16 };
static float x[BATCH * 256], expected[BATCH * 64];
static int run_once(float *y) {
  int64_t xs[2] = {BATCH, 256}, ys[2] = {BATCH, 64};
  DLTensor in = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, xs, NULL, 0}, out = {y, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, ys, NULL, 0};
  return big_run(&in, &out);
}
static void *work(void *failures) {
  float y[BATCH * 64];
  for (int i = 0; i < CALLS / THREADS; ++i) {
    memset(y, 0, sizeof y);
    if (run_once(y) || memcmp(y, expected, sizeof y)) __atomic_add_fetch((int *)failures, 1, __ATOMIC_SEQ_CST);
  }
  return NULL;
}
int main(void) {
  for (int i = 0; i < BATCH * 256; ++i) x[i] = (float)(i % 13) - 6;
  if (run_once(expected)) return 2;
  pthread_t threads[THREADS];
  int failures = 0;
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, &failures);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  printf("%d failures\n", failures);
  return failures != 0;
}
"""


def test_sixteen_threads_and_ten_thousand_calls(tmp_path):
    large()[1].compile(tmp_path / "big.so", threads=2)
    program = compile_c(tmp_path, MANY_THREADS, ["big.so"])
    result = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 failures\n", "")


RELOAD = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "filter.h"
static long resident(void) {
  long total = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%ld %ld", &total, &pages) != 2) exit(3);
  fclose(file);
  return pages;
}
static void once(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) { fprintf(stderr, "%s\n", dlerror()); exit(4); }
  int32_t (*run)(const DLTensor *, const DLTensor *, DLTensor *, DLTensor *) = dlsym(library, "filter_run");
  void (*give)(void *) = dlsym(library, "filter_free");
  float x[5] = {1, 2, 3, 4, 5}, t = 2;
  int64_t n[1] = {5}, a[1], b[1];
  DLTensor in = {x, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, n, NULL, 0}, least = {&t, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  DLTensor v = {NULL, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, a, NULL, 0}, p = {NULL, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, b, NULL, 0};
  if (run(&in, &least, &v, &p) || a[0] != 3) exit(5);
  give(v.data);
  give(p.data);
  dlclose(library);
}
int main(void) {
  for (int i = 0; i < 20; ++i) once("./filter.so");
  long before = resident();
  for (int i = 0; i < 1000; ++i) once("./filter.so");
  printf("%ld\n", resident() - before);
  return 0;
}
"""


def test_loading_a_thousand_times_does_not_grow(folder):
    program = compile_c(folder, RELOAD, [])
    pages = int(subprocess.run([program], cwd=folder, check=True, capture_output=True, text=True).stdout)
    assert pages < 64


ROWS_AND_THREADS = r"""
#include <stdio.h>
#include <stdlib.h>
#include "chosen.h"
static float x[60000];
int main(void) {
  void *workspaces[2] = {NULL, chosen_workspace_create()};
  for (int64_t i = 0; i < 60000; ++i) x[i] = (float)(i * 7919 % 13) - 6;
  for (int k = 0; k < 10; ++k) {
    onemlir_options options = {.threads = 2, .workspace = workspaces[k % 2]};
    int64_t count = 60000 >> k / 2, found = 0;
    DLTensor in = {x, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &count, NULL, 0}, out = {NULL, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &found, NULL, 0};
    int32_t code = chosen_run_with(&options, NULL, &in, &out);
    if (code) { fprintf(stderr, "%s\n", chosen_error(code)); return 1; }
    printf("%g\n", ((float *)out.data)[found - 1]);
    chosen_free(out.data);
  }
  chosen_workspace_destroy(workspaces[1]);
  return 0;
}
"""


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_valgrind_finds_nothing_in_memory_that_is_kept_and_in_threads(tmp_path):
    """Large memory whose size depends on data, in a workspace and without one."""
    def chosen(x):
        rows = ops.take(x, ops.nonzero(x > 0)[0], axis=0)
        return ops.cumsum(ops.concat([rows, ops.sort(ops.exp(rows)), rows], axis=0), axis=0)
    om.trace(chosen, om.ones((8,)), axes=("n",)).compile(tmp_path / "chosen.so", cpu=CPU)
    program = compile_c(tmp_path, ROWS_AND_THREADS, ["./chosen.so"])
    command = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", program]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    numbers = result.stdout.split()
    assert len(numbers) == 10 and numbers[::2] == numbers[1::2]


RELOAD_THREADS = r"""
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "big.h"
static float x[64 * 256], y[64 * 64];
static int64_t xs[2] = {64, 256}, ys[2] = {64, 64};
static int32_t (*run)(const onemlir_options *, onemlir_detail *, const DLTensor *, DLTensor *);
static int count(const char *folder) {
  int n = 0;
  DIR *open = opendir(folder);
  while (readdir(open)) ++n;
  closedir(open);
  return n - 2;
}
static void *load(void) {
  void *library = dlopen("./big.so", RTLD_NOW | RTLD_LOCAL);
  if (!library) { fprintf(stderr, "%s\n", dlerror()); exit(4); }
  run = dlsym(library, "big_run_with");
  return library;
}
static void once(void) {
  onemlir_options options = {.threads = 3};
  DLTensor in = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, xs, NULL, 0}, out = {y, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, ys, NULL, 0};
  if (run(&options, NULL, &in, &out)) exit(5);
}
static void *forever(void *unused) {
  for (;;) once();
  return unused;
}
int main(void) {
  for (int i = 0; i < 1000; ++i) {
    void *library = load();
    once();
    if (i == 0 && (count("/proc/self/task") < 3 || count("/proc/self/task") > 8)) return 6; /* the caller, two workers, at most five spare ones */
    if (dlclose(library)) return 7;
  }
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (fgets(line, sizeof line, maps)) if (strstr(line, "big.so")) return 8;
  fclose(maps);
  if (count("/proc/self/task") != 1) return 9;
  load();
  once();
  pid_t child = fork(); /* the child has no workers to wait for when it ends */
  int status = 1;
  if (child == 0) exit(0);
  if (waitpid(child, &status, 0) != child || status) return 10;
  pthread_t thread;
  pthread_create(&thread, NULL, forever, NULL);
  usleep(20000);
  exit(0); /* while a thread is in a run */
}
"""


def test_unloading_ends_the_workers(tmp_path):
    large()[1].compile(tmp_path / "big.so", cpu=CPU)
    program = compile_c(tmp_path, RELOAD_THREADS, [])
    for _ in range(3):
        assert subprocess.run([program], cwd=tmp_path, timeout=100).returncode == 0


REFUSALS = r"""
#include <stdio.h>
#include "gathering.h"
static float x[12] = {1, -1, 1};
static int64_t i[2] = {0, 1}, xs[2], is[1], shapes[4][2];
static DLTensor t[6];
static void reset(void) {
  xs[0] = 4; xs[1] = 3; is[0] = 2; i[1] = 1;
  t[0] = (DLTensor){x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, xs, NULL, 0};
  t[1] = (DLTensor){i, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, is, NULL, 0};
  for (int k = 0; k < 4; ++k)
    t[2 + k] = (DLTensor){NULL, {kDLCPU, 0}, gathering_output_ndim(k), gathering_output_dtype(k), shapes[k], NULL, 0};
}
static void run(const char *what) {
  onemlir_detail d;
  int32_t code = gathering_run_with(NULL, &d, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5]);
  printf("%s|%s|%lld|%lld\n", what, gathering_error(code), (long long)d.found, (long long)d.expected);
  if (!code) for (int k = 2; k < 6; ++k) gathering_free(t[k].data);
  reset();
}
int main(void) {
  reset();
  run("good");
  printf("%lld %lld %lld\n", (long long)shapes[0][0], (long long)shapes[0][1], (long long)shapes[2][0]);
  t[0].ndim = 1; run("axes");
  t[0].dtype.bits = 64; run("dtype");
  t[0].device.device_type = (DLDeviceType)2; run("device");
  xs[1] = 2; run("size");
  xs[0] = -1; run("negative");
  t[0].data = (char *)x + 1; run("alignment");
  t[0].data = NULL; run("null");
  int64_t columns[2] = {1, 4}; t[0].strides = columns; run("strides");
  int64_t rows[2] = {3, 1}; t[0].strides = rows; run("row-major");
  i[1] = 4; run("index");
  int64_t destination[8]; t[3].data = destination; run("destination");
  float small[3]; shapes[0][0] = 1; shapes[0][1] = 3; t[2].data = small; run("output");
  t[1].data = NULL; is[0] = 0; run("empty");
  printf("%s|%s\n", gathering_error(99999), gathering_error(-1));
  return 0;
}
"""


def test_refusals(tmp_path):
    gathering().compile(tmp_path / "gathering.so", cpu=CPU)
    program = compile_c(tmp_path, REFUSALS, ["gathering.so"])
    printed = subprocess.run([program], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    assert printed[1] == "2 3 6"
    found = {line.split("|")[0]: tuple(line.split("|")[1:]) for line in printed if line.count("|") == 3}
    index = found.pop("index")
    assert index[0].startswith("gather: index <found> is out of range for axis 0 of size <expected>") and index[1:] == ("4", "4")
    assert found == {
        "good": ("success", "0", "0"), "row-major": ("success", "0", "0"), "empty": ("success", "0", "0"),
        "axes": ("input 'x' must have 2 axes", "1", "2"),
        "dtype": ("input 'x' must have dtype float32", str(2 | 64 << 8 | 1 << 16), str(2 | 32 << 8 | 1 << 16)),
        "device": ("input 'x' is not in the memory of the processor (kDLCPU)", "2", "1"),
        "size": ("axis 1 of input 'x' must be 3", "2", "3"), "negative": ("input 'x' has a negative size", "-1", "0"),
        "alignment": ("input 'x' has no data, or data that is not aligned to its elements", "1", "0"),
        "null": ("input 'x' has no data, or data that is not aligned to its elements", "0", "0"),
        "strides": ("input 'x' is not contiguous: its strides must be null or those of a row-major array", "0", "0"),
        "destination": ("output 'where' is allocated by the run: its data must be null", "0", "0"),
        "output": ("axis 0 of output 'taken' must be k", "1", "2"),
    }  # fmt: skip
    assert printed[-1] == "unknown error|not enough memory"


def test_executable_reads_and_writes_arrays(tmp_path):
    model, traced = mlp()
    traced.compile(tmp_path / "classify", cpu=CPU)
    np.save(tmp_path / "x.npy", GRID)
    np.savez(tmp_path / "x.npz", input=GRID)
    for name in ("x.npy", "x.npz"):
        subprocess.run(["./classify", name, "y.npz"], cwd=tmp_path, check=True)
        with np.load(tmp_path / "y.npz") as outputs:
            np.testing.assert_allclose(outputs["output"], mlp_by_numpy(model, GRID), rtol=1e-5, atol=1e-6)
    np.save(tmp_path / "wide.npy", np.zeros((2, 17), np.float32))
    np.save(tmp_path / "double.npy", GRID.astype(np.float64))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:150])
    (tmp_path / "damaged.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:200])
    for name, message in (("wide.npy", "axis 1 of input 'input' must be 16 (found 17, expected 16)"), ("double.npy", "has dtype <f8, but the model takes <f4"),
                          ("cut.npy", f"input 'input' is truncated: 22 bytes of data, but its header announces {GRID.nbytes}"), ("damaged.npz", "no .npz file"), (".", "Is a directory: .")):
        result = subprocess.run(["./classify", name, "y.npz"], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 1 and message in result.stderr


def test_a_place_that_cannot_be_written(tmp_path):
    traced = mlp()[1]
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="net.o' cannot be written: there is no folder"):
        traced.compile(tmp_path / "file" / "net.o", cpu=CPU, isolate=True)
    (tmp_path / "net.h").mkdir()
    with pytest.raises(IsADirectoryError, match="net.h' cannot be written: it is a folder"):
        traced.compile(tmp_path / "net.o", cpu=CPU, isolate=True)
    (tmp_path / "net.h").rmdir()
    for weights, what in (("net.o", "what is compiled"), ("net.h", "the header")):
        with pytest.raises(CompileError, match=f"{weights}' cannot hold the weights: it is {what}"):
            traced.compile(tmp_path / "net.o", cpu=CPU, weights=tmp_path / weights)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


THREADS = """
#include <stdio.h>
#include "first.h"
int main(void) { printf("%d", first_threads()); return 0; }
"""


@pytest.mark.skipif(shutil.which("taskset") is None, reason="needs taskset")
def test_threads_where_nobody_says(tmp_path):
    tiny().compile(tmp_path / "first.a", cpu=CPU)
    program = compile_c(tmp_path, THREADS, ["first.a"])
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}

    def threads(*command, **variables):
        return int(subprocess.run([*command, program], check=True, capture_output=True, text=True, env={**clean, **variables}).stdout)

    assert threads("taskset", "-c", str(min(os.sched_getaffinity(0)))) == 1
    assert threads(OMP_NUM_THREADS="3") == 3
    assert threads(OMP_NUM_THREADS="5,2") == 5
    assert threads(OMP_NUM_THREADS="3", ONEMLIR_NUM_THREADS="7") == 7
    assert threads(OMP_NUM_THREADS="many") == threads() <= len(os.sched_getaffinity(0))


def test_executable_with_weights_beside(tmp_path, monkeypatch):
    """Too large to be inside, which is 2 GB: here 100 bytes."""
    monkeypatch.setattr("onemlir.runtime.ahead_of_time.program.LARGEST_INSIDE", 100)
    model, traced = mlp()
    (tmp_path / "a folder").mkdir()
    traced.compile(tmp_path / "a folder" / "classify", cpu=CPU)
    np.save(tmp_path / "x.npy", GRID)
    subprocess.run(["a folder/classify", "x.npy", "y.npz"], cwd=tmp_path, check=True)
    with np.load(tmp_path / "y.npz") as outputs:
        np.testing.assert_allclose(outputs["output"], mlp_by_numpy(model, GRID), rtol=1e-5, atol=1e-6)
    weights = tmp_path / "a folder" / "classify.weights"
    data = weights.read_bytes()
    for changed in (data[:-64], bytes(64) + data[64:], b"", None):
        weights.unlink() if changed is None else weights.write_bytes(changed)
        result = subprocess.run(["a folder/classify", "x.npy", "y.npz"], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 1 and "classify.weights" in result.stderr


TWO_MODELS = r"""
#include <stdio.h>
#include "first.h"
#include "second.h"
int main(void) {
  float x[16], y[16], z[16];
  for (int i = 0; i < 16; ++i) x[i] = (float)i;
  int64_t shape[2] = {1, 16};
  DLTensor in = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0}, middle = in, out = in;
  middle.data = y;
  out.data = z;
  if (first_run(&in, &middle) || second_run(&middle, &out)) return 1;
  for (int i = 0; i < 16; ++i) printf("%g ", z[i]);
  return 0;
}
"""


def test_two_models_in_one_program(tmp_path):
    """An archive and an object file, with nothing exported that both have."""
    tiny().compile(tmp_path / "first.a", cpu=CPU)
    tiny().compile(tmp_path / "second.o", cpu=CPU)
    program = compile_c(tmp_path, TWO_MODELS, ["second.o", "first.a"])
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    np.testing.assert_array_equal(np.array(printed.split(), np.float32), (np.arange(16, dtype=np.float32) * 3 + 1) * 3 + 1)


def test_odd_names(tmp_path):
    """Names that C does not have become ones that it has, all different."""
    tracer = om.Tracer()
    a, b = (tracer.input(name, om.zeros(2)) for name in ("x.1", "x_1"))
    tracer.output("*/ sum", a + b)
    tracer.finish().compile(tmp_path / "odd-1 name.o", cpu=CPU)
    command = ["cc", "-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"]
    subprocess.run(command, input='#include "odd_1_name.h"\n', text=True, cwd=tmp_path, check=True)


BESIDE = r"""
#include <stdio.h>
#include "net.h"
static _Alignas(64) char weights[1 << 20];
int main(void) {
  FILE *file = fopen("net.weights", "rb");
  uint64_t size = fread(weights, 1, sizeof weights, file);
  float x[16] = {1, 2, 3}, y[4];
  int64_t xs[2] = {1, 16}, ys[2] = {1, 4};
  DLTensor in = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, xs, NULL, 0}, out = {y, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, ys, NULL, 0};
  onemlir_options options = {.weights = weights};
  int32_t good = net_weights_check(weights, size), without = net_run(&in, &out), with = net_run_with(&options, NULL, &in, &out);
  weights[9] ^= 4;
  int32_t changed = net_weights_check(weights, size), shorter = net_weights_check(weights, size - 64);
  printf("%d|%s|%d|%s|%d\n%.9g %.9g %.9g %.9g\n", good, net_error(without), with, net_error(changed), shorter, y[0], y[1], y[2], y[3]);
  return 0;
}
"""


def test_weights_beside(tmp_path):
    model, traced = mlp()
    traced.compile(tmp_path / "net.so", weights=tmp_path / "net.weights", cpu=CPU)
    program = compile_c(tmp_path, BESIDE, ["net.so"])
    status, numbers = subprocess.run([program], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    good, without, with_weights, changed, shorter = status.split("|")
    assert (good, with_weights, shorter) == ("0", "0", "-5")
    assert "hand it in with the options" in without and changed == "these are not the weights that the library was compiled with"
    x = np.zeros((1, 16), np.float32)
    x[0, :3] = 1, 2, 3
    np.testing.assert_allclose(np.array(numbers.split(), np.float64), mlp_by_numpy(model, x)[0], rtol=1e-5, atol=1e-6)
