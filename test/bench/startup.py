"""Processor time of an `onemlir-opt` without passes, over `import mlir.ir`: lowest of several interleaved runs.

    python test/bench/startup.py [rounds]
"""
import os
import pathlib
import subprocess
import sys


def seconds(*command: str) -> float:
    before = os.times()
    subprocess.run(command, input=b"module {}", capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main(rounds: int) -> None:
    tool = str(pathlib.Path(sys.executable).parent / "onemlir-opt")
    commands = {"onemlir-opt": (tool,), "import mlir.ir": (sys.executable, "-c", "import mlir.ir")}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(seconds(*command))
    for name, values in times.items():
        print(f"{name:16} {min(values) * 1e3:6.0f} ms lowest, {sorted(values)[len(values) // 2] * 1e3:6.0f} ms median")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
