"""Transposing a square of vectors in registers, and a buffer through such squares."""

from mlir.dialects import vector

from . import build as b


def transpose_square(rows: list) -> list:
    """`lanes` vectors of `lanes` elements, transposed by two-vector shuffles: log2(lanes) rounds."""
    lanes = len(rows)
    if lanes < 4 or b.bits(b.vector_element(rows[0])) != 32:
        return _swap_blocks(rows, 1)
    pairs = _interleave(rows, 1)
    quads = _interleave(pairs, 2)
    groups = [_swap_blocks(quads[j::4], 4) for j in range(4)]
    return [groups[j % 4][j // 4] for j in range(lanes)]


def _interleave(rows, size: int):
    """Rounds within 128 bits, `unpcklps` and `unpcklpd` on x86: rows 4 i + j then hold column 4 q + j in their q-th quarter."""
    lanes = len(rows)
    result = list(rows)
    for i in range(0, lanes, 2 * size):
        for j in range(size):
            first, second = rows[i + j], rows[i + j + size]
            for half in range(2):
                mask = []
                for q in range(0, lanes, 4):
                    if size == 1:
                        k = q + 2 * half
                        mask += [k, lanes + k, k + 1, lanes + k + 1]
                    else:
                        k = q + 2 * half
                        mask += [k, k + 1, lanes + k, lanes + k + 1]
                result[i + 2 * j + half if size == 2 else i + half] = vector.shuffle(first, second, mask)
    return result


def _swap_blocks(rows, width: int):
    """Transpose a square of blocks, each `width` lanes wide, by swapping its halves, quarters, …"""
    count = len(rows)
    lanes = b.lanes_of(rows[0])
    rows = list(rows)
    distance = count // 2
    while distance:
        for i in range(count):
            if i & distance:
                continue
            first, second = rows[i], rows[i + distance]
            step = distance * width
            low = [j if not (j // width) & distance else lanes + j - step for j in range(lanes)]
            high = [j + step if not (j // width) & distance else lanes + j for j in range(lanes)]
            rows[i], rows[i + distance] = vector.shuffle(first, second, low), vector.shuffle(first, second, high)
        distance //= 2
    return rows
