"""x86-64 instruction-set features: where `cpuid` tells of them, and which processors have them.

Sources: Intel SDM volume 2A, CPUID; the x86-64 psABI for the levels v2, v3 and v4; LLVM's processor definitions for the named ones.
"""
from __future__ import annotations

# (leaf, sub-leaf, register, bit); registers are numbered eax, ebx, ecx, edx.
BITS = {
    "sse3": (1, 0, 2, 0), "pclmul": (1, 0, 2, 1), "ssse3": (1, 0, 2, 9), "fma": (1, 0, 2, 12), "cx16": (1, 0, 2, 13),
    "sse4.1": (1, 0, 2, 19), "sse4.2": (1, 0, 2, 20), "movbe": (1, 0, 2, 22), "popcnt": (1, 0, 2, 23), "aes": (1, 0, 2, 25),
    "avx": (1, 0, 2, 28), "f16c": (1, 0, 2, 29), "bmi": (7, 0, 1, 3), "avx2": (7, 0, 1, 5), "bmi2": (7, 0, 1, 8),
    "avx512f": (7, 0, 1, 16), "avx512dq": (7, 0, 1, 17),
    "adx": (7, 0, 1, 19), "avx512ifma": (7, 0, 1, 21), "avx512cd": (7, 0, 1, 28), "sha": (7, 0, 1, 29), "avx512bw": (7, 0, 1, 30),
    "avx512vl": (7, 0, 1, 31), "avx512vbmi": (7, 0, 2, 1), "avx512vbmi2": (7, 0, 2, 6), "gfni": (7, 0, 2, 8), "vaes": (7, 0, 2, 9),
    "vpclmulqdq": (7, 0, 2, 10), "avx512vnni": (7, 0, 2, 11), "avx512bitalg": (7, 0, 2, 12), "avx512vpopcntdq": (7, 0, 2, 14),
    "avx512vp2intersect": (7, 0, 3, 8), "avx512fp16": (7, 0, 3, 23), "avxvnni": (7, 1, 0, 4), "avx512bf16": (7, 1, 0, 5),
    "avxifma": (7, 1, 0, 23),
    "avxvnniint8": (7, 1, 3, 4), "avxneconvert": (7, 1, 3, 5), "avxvnniint16": (7, 1, 3, 10),
    "lzcnt": (0x80000001, 0, 2, 5), "sse4a": (0x80000001, 0, 2, 6), "xop": (0x80000001, 0, 2, 11), "fma4": (0x80000001, 0, 2, 16),
    "tbm": (0x80000001, 0, 2, 21),
}  # fmt: skip

_V2 = ("cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2")
_V3 = _V2 + ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = _V3 + ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
LEVELS = {"x86-64": (), "x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}

_SKYLAKE = ("aes", "pclmul", "adx")
_VECTORS = ("avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni", "avx512bitalg", "avx512vpopcntdq", "gfni", "vaes", "vpclmulqdq")
_ICELAKE = _SKYLAKE + _VECTORS + ("sha",)
_SAPPHIRE = _ICELAKE + ("avxvnni", "avx512bf16", "avx512fp16")
_ZEN = ("aes", "pclmul", "adx", "sha", "sse4a")
_ZEN4 = _ZEN + _VECTORS + ("avx512bf16",)
_ALDER = _SKYLAKE + ("sha", "gfni", "vaes", "vpclmulqdq", "avxvnni")

NAMED = {
    "nehalem": ("x86-64-v2", ()), "westmere": ("x86-64-v2", ("pclmul",)), "sandybridge": ("x86-64-v2", ("pclmul", "avx")),
    "ivybridge": ("x86-64-v2", ("pclmul", "avx", "f16c")), "silvermont": ("x86-64-v2", ("pclmul", "movbe")),
    "haswell": ("x86-64-v3", ("pclmul",)), "broadwell": ("x86-64-v3", ("pclmul", "adx")), "skylake": ("x86-64-v3", _SKYLAKE),
    "alderlake": ("x86-64-v3", _ALDER), "znver1": ("x86-64-v3", _ZEN), "znver2": ("x86-64-v3", _ZEN),
    "znver3": ("x86-64-v3", _ZEN + ("vaes", "vpclmulqdq")),
    "skylake-avx512": ("x86-64-v4", _SKYLAKE), "cascadelake": ("x86-64-v4", _SKYLAKE + ("avx512vnni",)),
    "cooperlake": ("x86-64-v4", _SKYLAKE + ("avx512vnni", "avx512bf16")), "icelake-client": ("x86-64-v4", _ICELAKE),
    "icelake-server": ("x86-64-v4", _ICELAKE), "tigerlake": ("x86-64-v4", _ICELAKE + ("avx512vp2intersect",)),
    "sapphirerapids": ("x86-64-v4", _SAPPHIRE), "emeraldrapids": ("x86-64-v4", _SAPPHIRE), "znver4": ("x86-64-v4", _ZEN4),
    "znver5": ("x86-64-v4", _ZEN4 + ("avxvnni", "avx512vp2intersect")),
}  # fmt: skip


def known_features(attribute: str) -> tuple[str, ...]:
    """Those of an LLVM feature string (`+avx2,-sse4a,...`) that are on and that `cpuid` can be asked for."""
    names = (part[1:] for part in attribute.split(",") if part.startswith("+"))
    return tuple(sorted(name for name in names if name in BITS))
