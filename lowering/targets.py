"""The machines that code is generated for, and the tile sizes that were measured on them."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import functools
import os
import platform
import sys
from dataclasses import dataclass, replace

from ..errors import OnemlirError


@dataclass(frozen=True)
class Target:
    """What the kernels need to know about a processor.

    `name` is also the key of the compile cache. `cpu` and `features` are LLVM's, empty for the host.
    """

    name: str
    vector_bits: int
    registers: int
    """Vector registers."""
    rows: int
    """Rows of the largest register tile of a product: one broadcast scalar each."""
    vectors: int
    """Vectors of the register tile: its columns."""
    level1: int = 32 << 10
    level2: int = 512 << 10
    cpu: str = ""
    features: str = ""
    matrix_unit: bool = False
    """Tiles of bf16 are multiplied by a unit of their own (AMX), which a process must ask the system for."""
    byte_products: bool = False
    """Products of four 8-bit integers are summed in 32 bits by one instruction (`vpdpbusd`: AVX512-VNNI, AVX-VNNI)."""
    short_products: bool = False
    """Products of two 16-bit integers are summed in 32 bits by one instruction (`vpmaddwd`)."""
    pair_products: bool = False
    """Products of two bf16 are summed in f32 by one instruction (`vdpbf16ps`: AVX512-BF16)."""
    folds_broadcast: bool = False
    """A multiply-add can broadcast a scalar from memory, so the broadcast takes no register."""
    withheld: str = ""
    """LLVM's features that code for this target does without on a better processor; what needs them goes with them."""

    @property
    def integers(self) -> int:
        """How many integers of a lane one instruction multiplies and sums: 4 bytes, 2 of 16 bits, or 0."""
        return 4 if self.byte_products else 2 if self.short_products else 0

    @property
    def masks(self) -> bool:
        """A store of some lanes takes no longer than one of all (AVX-512's mask registers)."""
        return self.vector_bits == 512

    def lanes(self, bits: int) -> int:
        """Elements of this many bits in a vector register."""
        return self.vector_bits // bits


AVX512 = Target("avx512", 512, 32, rows=14, vectors=2, level1=48 << 10, level2=2 << 20, cpu="x86-64-v4", folds_broadcast=True, short_products=True,
                withheld="-avx512vnni,-avx512bf16")  # fmt: skip
AVX512_VNNI = replace(AVX512, name="avx512vnni", cpu="cascadelake", byte_products=True, withheld="-avx512bf16")
AVX512_BF16 = replace(AVX512_VNNI, name="avx512bf16", cpu="cooperlake", pair_products=True, withheld="")
AMX = replace(AVX512_BF16, name="amx", cpu="sapphirerapids", matrix_unit=True)
AVX2 = Target("avx2", 256, 16, rows=6, vectors=2, level1=32 << 10, level2=512 << 10, cpu="x86-64-v3", short_products=True,
              withheld="-avx512f,-avxvnni")  # fmt: skip
AVX2_VNNI = replace(AVX2, name="avx2vnni", cpu="alderlake", byte_products=True, withheld="")
NEON = Target("neon", 128, 32, rows=8, vectors=2, level1=64 << 10, level2=512 << 10, cpu="generic", features="+neon")
BASELINE = Target("sse2", 128, 16, rows=3, vectors=4, cpu="x86-64", withheld="-sse3")

TARGETS = {target.name: target for target in (AMX, AVX512_BF16, AVX512_VNNI, AVX512, AVX2_VNNI, AVX2, NEON, BASELINE)}


_chosen: contextvars.ContextVar = contextvars.ContextVar("target", default=None)


@contextlib.contextmanager
def lowering_for(target: Target | None):
    """What is lowered inside the block is for `target` (None: for this machine), in this thread alone."""
    token = _chosen.set(target)
    try:
        yield
    finally:
        _chosen.reset(token)


def host() -> Target:
    """The target to lower for: the one of `lowering_for`, else this machine's; `ONEMLIR_TARGET=avx2` chooses a lesser one."""
    return _chosen.get() or _detected()


def vector_host() -> Target:
    """The same without a matrix unit: for code that runs in processes which have not asked for it."""
    return AVX512_BF16 if host().matrix_unit else host()


@functools.cache
def _detected() -> Target:
    chosen = os.environ.get("ONEMLIR_TARGET")
    if chosen:
        if chosen not in TARGETS:
            raise OnemlirError(f"ONEMLIR_TARGET is {chosen!r} in the environment; expected one of {', '.join(TARGETS)}")
        return TARGETS[chosen] if chosen != AMX.name or allow_matrix_unit() else AVX512_BF16
    return _machine()


def withheld() -> str:
    """LLVM's features of this machine that its code does without, as `ONEMLIR_TARGET` names a lesser one."""
    return "" if _detected() == _machine() else _detected().withheld


def _machine() -> Target:
    if platform.machine().lower() in ("arm64", "aarch64"):
        return NEON
    flags = _flags()
    if {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= flags:
        vectors = AVX512
        if "avx512_vnni" in flags:
            vectors = AVX512_BF16 if "avx512_bf16" in flags else AVX512_VNNI
        return AMX if {"amx_tile", "amx_bf16", "avx512_vnni", "avx512_bf16"} <= flags and allow_matrix_unit() else vectors
    if {"avx2", "fma"} <= flags:
        return AVX2_VNNI if "avx_vnni" in flags else AVX2
    return BASELINE


@functools.cache
def allow_matrix_unit() -> bool:
    """Ask Linux to let this process use AMX's tiles (`arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)`); whether it does."""
    if platform.machine() != "x86_64" or not sys.platform.startswith("linux"):
        return False
    arch_prctl, request, tile_data = 158, 0x1023, 18
    try:
        return ctypes.CDLL(None).syscall(arch_prctl, request, tile_data) == 0
    except (OSError, AttributeError):
        return False


def _flags() -> set:
    """The processor's feature flags; where the system does not tell, those of AVX2."""
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return {"avx2", "fma"}
