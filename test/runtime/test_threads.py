"""Parallel loops on the pool, and many callers at once."""
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from onemlir.dialect.symbolic import Dim
from onemlir.runtime import Spec
from onemlir.runtime.forking import whole_in_child
from onemlir.runtime.pool.spares import SPARES

F32 = np.float32
N = Dim.symbol("n")
HEAVY = """
func.func @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.divf %i, %i : f32
      %t = arith.addf %i, %s : f32
      %u = math.sqrt %t : f32
      linalg.yield %u : f32 } -> tensor<?x64xf32>
  %b = linalg.add ins(%a, %x : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %b : tensor<?x64xf32> }"""
IO = ([Spec("x", (N, 64), F32)], [Spec("y", (N, 64), F32)])


def inputs(n):
    return np.random.default_rng(n).random((n, 64), F32) + 1


def expected(x):
    return np.sqrt(x + F32(1)) + x


@pytest.fixture
def sessions(build):
    first = build(HEAVY, *IO, threads=1)
    return {threads: type(first)(first._compiled, *IO, threads=threads) for threads in (1, 2, 5)}


def test_any_number_of_threads_gives_the_same_bits(sessions):
    for n in (0, 1, 7, 1000, 20011):
        x = inputs(n)
        results = [session(x) for session in sessions.values()]
        np.testing.assert_allclose(results[0], expected(x), rtol=1e-6)
        for result in results[1:]:
            assert result.tobytes() == results[0].tobytes()


def test_eight_callers_at_once(sessions):
    session, wrong = sessions[2], []

    def caller(seed):
        for round in range(60):
            x = inputs((seed * 37 + round * 101) % 3000)
            if not np.allclose(session(x), expected(x)):
                wrong.append((seed, round))

    threads = [threading.Thread(target=caller, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the state of threads is read from Linux's /proc")
def test_where_others_take_the_processors_spare_workers_stand_in(sessions):
    """Never more threads than the job wants and its spare ones, and the same bits."""
    x = inputs(20011)
    wanted = sessions[1](x).tobytes()
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        before = len(os.listdir("/proc/self/task"))
        assert all(sessions[threads](x).tobytes() == wanted for threads in (2, 2, 5, 2, 5) for _ in range(20))
        assert len(os.listdir("/proc/self/task")) <= before + 4 + SPARES
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert all(sessions[threads](x).tobytes() == wanted for threads in (5, 2) for _ in range(20))


def test_idle_workers_sleep(sessions):
    x = inputs(20000)
    for _ in range(20):
        sessions[5](x)
    deadline = time.monotonic() + 30  # a worker that spins runs for ever, on a busy machine too
    while len(running := running_threads()) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert running == [str(threading.get_native_id())]


def running_threads() -> list[str]:
    """The numbers of this process's threads that run or wait for a processor."""
    tasks = Path("/proc/self/task").iterdir()
    return [task.name for task in tasks if (task / "stat").read_text().rpartition(")")[2].split()[0] == "R"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity of threads")
@pytest.mark.parametrize("count", [1, 2])
def test_workers_keep_the_affinity_they_were_given(sessions, count):
    """On one processor the caller computes everything; a worker that leaves the caller's processor may still run on all others."""
    allowed = os.sched_getaffinity(0)
    some, x = set(sorted(allowed)[:count]), inputs(20000)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.sched_setaffinity(0, some)
        right = all(np.allclose(sessions[5](x), expected(x)) for _ in range(200))
        time.sleep(0.2)  # a worker that was called last may still be on its way
        kept = all(os.sched_getaffinity(int(thread)) == some for thread in os.listdir("/proc/self/task"))
        os.write(write, f"{right} {kept}".encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(read, 20) == b"True True"
    os.close(read), os.close(write)


def test_a_forked_child_has_its_own_workers(sessions):
    x = inputs(20000)
    sessions[5](x)
    child = os.fork()
    if child == 0:
        ok = all(np.allclose(sessions[5](x), expected(x)) for _ in range(5))
        os._exit(0 if ok and len(os.listdir("/proc/self/task")) > 1 else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_what_another_thread_compiles_and_the_child_may_compile():
    inside, done = threading.Event(), []

    @whole_in_child()
    def compiles():
        inside.set()
        time.sleep(0.05)
        done.append(1)
    thread = threading.Thread(target=compiles)
    thread.start()
    inside.wait()
    with whole_in_child():  # the thread's own does not keep it waiting
        child = os.fork()
    if child == 0:
        with whole_in_child():
            os._exit(0 if done else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("machine, system, triple", [
    ("x86_64", "linux", "x86_64-unknown-linux-gnu"), ("aarch64", "linux", "aarch64-unknown-linux-gnu"), ("arm64", "darwin", "arm64-apple-darwin"),
])  # fmt: skip
def test_the_pool_for_other_machines(machine, system, triple):
    from mlir import ir

    from onemlir.lowering.llvm import assembly
    from onemlir.runtime.pool.source import EXPORTED, pool_module

    with ir.Context() as context:
        text = assembly(pool_module(context, machine, system), triple=triple)
    assert all(f"{name}:" in text for name in EXPORTED)
