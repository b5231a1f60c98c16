"""ONNX's backend test suite in worker processes: a case that ends its process, or takes too long, is a result like any other.

    python suite.py [--match TEXT] [--workers 2] [--timeout 60] [--output results.json] [--interpret] [--again results.json]
"""
from __future__ import annotations

import argparse
import collections
import json
import pathlib
import select
import subprocess
import sys
import threading
import time

WORKER = pathlib.Path(__file__).with_name("suite_worker.py")


class Worker:
    """One process; it is started anew after a case that ended it."""

    def __init__(self, *options: str, script: pathlib.Path = WORKER):
        self.options, self.script = options, script
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen([sys.executable, str(self.script), *self.options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.cases = json.loads(self.process.stdout.readline())["cases"]

    def run(self, name: str, timeout: float) -> dict:
        """The result of one case."""
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        code = self.process.wait()
        self.start()
        return {"name": name, "status": "crash" if ready else "timeout", "message": f"the process ended with {code}" if ready else f"{timeout} s", "seconds": 0}

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def run_cases(match=None, workers: int = 2, timeout: float = 60.0, names=None, options=(), log=None, script=WORKER) -> dict[str, dict]:
    """Results by case, for the cases whose name holds one of the texts of `match`, or for `names`."""
    results: dict[str, dict] = {}
    pool = [Worker(*options, script=script) for _ in range(workers)]
    names = [n for n in pool[0].cases if not match or any(m in n for m in match)] if names is None else list(names)
    queue = collections.deque(names)

    def serve(worker: Worker) -> None:
        while queue:
            try:
                name = queue.popleft()
            except IndexError:
                return
            results[name] = worker.run(name, timeout)
            if log is not None:
                print(json.dumps(results[name]), file=log, flush=True)

    threads = [threading.Thread(target=serve, args=(worker,)) for worker in pool]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in pool:
        worker.close()
    return dict(sorted(results.items()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", nargs="*")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--output")
    parser.add_argument("--again", help="results of an earlier run: only the cases that did not pass there")
    parser.add_argument("--interpret", action="store_true", help="read the models and interpret them with the references, without compiling")
    parser.add_argument("--log", type=argparse.FileType("w"), help="write a line of JSON for each case as it ends")
    options = parser.parse_args()
    start = time.perf_counter()
    names = None if options.again is None else [n for n, r in json.loads(pathlib.Path(options.again).read_text()).items() if r["status"] != "pass"]
    results = run_cases(options.match, options.workers, options.timeout, names, options=["--interpret"] * options.interpret, log=options.log)
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(results, indent=0))
    counts = collections.Counter(r["status"] for r in results.values())
    print(f"{len(results)} cases in {time.perf_counter() - start:.0f} s:", dict(counts.most_common()))
    if options.match:
        for r in results.values():
            if r["status"] != "pass":
                print(r["name"], r["status"], r["message"][:600])


if __name__ == "__main__":
    main()
