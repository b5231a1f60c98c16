"""The processors that a library is made for: a system, a machine and one or more levels of instruction sets."""
from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

from ...errors import CompileError
from ...lowering.targets import AVX2, AVX2_VNNI, AVX512, AVX512_BF16, AVX512_VNNI, BASELINE, NEON, Target, vector_host
from .features import LEVELS, NAMED


ARM = ("generic", "cortex-a53", "cortex-a55", "cortex-a57", "cortex-a72", "cortex-a73", "cortex-a76", "cortex-a78", "cortex-x1", "neoverse-n1",
       "neoverse-n2", "neoverse-v1", "neoverse-v2", "ampere1", "a64fx", "apple-m1", "apple-m2", "apple-m3", "apple-m4")


@dataclass(frozen=True)
class Level:
    """Code for one processor or instruction-set level: LLVM's name, the lowering's target, the features to look for at load time."""

    cpu: str
    target: Target
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class Machine:
    """A triple and the levels in it, least first."""

    triple: str
    levels: tuple[Level, ...]
    native: bool = False
    """The only level is the processor of this machine."""

    @property
    def architecture(self) -> str:
        """`x86_64` or `aarch64`."""
        return self.triple.split("-")[0].replace("arm64", "aarch64")

    @property
    def system(self) -> str:
        return "darwin" if "apple" in self.triple or "darwin" in self.triple else "linux"

    @property
    def baseline(self) -> str:
        """The processor that the checks and the interface are compiled for: every one of the machine runs it."""
        return "x86-64" if self.architecture == "x86_64" else "generic"


def this_triple() -> str:
    machine = platform.machine().lower().replace("amd64", "x86_64")
    if sys.platform == "darwin":
        return f"{machine.replace('aarch64', 'arm64')}-apple-darwin"
    return f"{machine}-linux-gnu"


def machine_of(target: str = "", cpu: str = "") -> Machine:
    """The machine for `target` ("", "host", or a triple such as "aarch64-linux-gnu") and `cpu` ("native", a name, several with commas)."""
    native_triple = this_triple()
    triple = native_triple if target in ("", "host") else target.replace("-unknown-", "-").replace("-none-", "-")
    architecture = triple.split("-")[0].replace("arm64", "aarch64")
    if architecture not in ("x86_64", "aarch64"):
        raise CompileError(f"target '{target}': code can be made for x86_64 and aarch64, for example aarch64-linux-gnu")
    if not any(system in triple for system in ("linux", "apple", "darwin")):
        raise CompileError(f"target '{target}': code can be made for Linux and macOS, for example {architecture}-linux-gnu")
    same = triple == native_triple
    usual = "native" if same else "x86-64-v3" if architecture == "x86_64" else "generic"
    names = [name.strip() for name in cpu.split(",") if name.strip()] or [usual]
    if "native" in names:
        if not same or len(names) > 1:
            raise CompileError("cpu 'native' is this machine's processor: it cannot stand for another target or beside other levels")
        return Machine(triple, (Level("native", vector_host()),), native=True)
    by_features = lambda level: len(level.features)
    levels = [_arm(name) for name in names] if architecture == "aarch64" else sorted(map(_x86, names), key=by_features)
    if len(levels) > 1 and architecture == "aarch64":
        raise CompileError("several processors in one library are possible for x86-64 alone")
    return Machine(triple, tuple(levels))


def _arm(name: str) -> Level:
    if name not in ARM:
        raise CompileError(f"unknown aarch64 processor '{name}'; known are {', '.join(ARM)}")
    return Level(name, NEON)


def _x86(name: str) -> Level:
    if name in LEVELS:
        features = LEVELS[name]
    elif name in NAMED:
        level, extra = NAMED[name]
        features = LEVELS[level] + extra
    else:
        raise CompileError(f"unknown processor '{name}'; known are native, {', '.join([*LEVELS, *NAMED])}")
    return Level(name, lowering_target(features), features)


def lowering_target(features: tuple[str, ...]) -> Target:
    """The tile sizes for a processor with these features."""
    if {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= set(features):
        vectors = AVX512_BF16 if "avx512bf16" in features else AVX512_VNNI
        return vectors if "avx512vnni" in features else AVX512
    if {"avx2", "fma"} <= set(features):
        return AVX2_VNNI if "avxvnni" in features else AVX2
    return BASELINE
