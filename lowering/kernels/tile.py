"""The register tile that every product and convolution is made of, and how rows are cut into tiles.

A tile keeps `height * vectors` accumulators in registers. One step along k loads `vectors` vectors of B and, for each row, broadcasts one
scalar of A; each pair is one multiply-add. LLVM folds the broadcast into the multiply-add on AVX-512.
"""

from . import build as b

LATENCY, MOST = 8, 12
"""Accumulators that keep two multiply-add units of four cycles busy, and as many as sixteen registers hold beside two vectors and a scalar."""


def accumulate(initial, height: int, count, load_row, load_columns, vectors: int | None = None, arithmetic=b):
    """The accumulators (row-major list) after `count` steps: `load_row(k, row)` is a scalar, `load_columns(k)` a list of vectors.

    A small tile sums every second, fourth … step into accumulators of its own, so that it does not wait for the multiply-add's latency;
    the order of the sum depends on the tile's height and on `vectors` alone: those of the product's widest tile, by default this one's.
    `arithmetic` has the `multiply_add` and the `plus` of the accumulators.
    """
    copies = copies_of(len(initial) if vectors is None else height * vectors)
    unroll = max(copies, 1 if len(initial) >= 16 else 2)
    if b.known(count):
        unroll = min(unroll, max(1, count))
        copies = min(copies, unroll)
    carried = list(initial) + [b.zero(x.type) for x in initial] * (copies - 1)

    def step(k, sums):
        columns = load_columns(k)
        result = []
        for row in range(height):
            scalar = b.broadcast(load_row(k, row), b.lanes_of(initial[0]))
            for v, column in enumerate(columns):
                result.append(arithmetic.multiply_add(scalar, column, sums[row * len(columns) + v]))
        return result

    def unrolled(k, *sums):
        groups = groups_of(sums, copies)
        for u in range(unroll):
            groups[u % copies] = step(b.add(k, u), groups[u % copies])
        return [x for group in groups for x in group]

    whole = b.sub(count, b.rem(count, unroll))
    sums = groups_of(b.loop(0, whole, unroll, unrolled, carried), copies)
    first = b.loop(whole, count, 1, lambda k, *rest: step(k, rest), sums[0])
    return sum_of([first, *sums[1:]], arithmetic)


def copies_of(accumulators: int) -> int:
    """How many times a tile has accumulators: every second, fourth ... step is summed into those of its own."""
    copies = 1
    while copies * accumulators < LATENCY and copies * accumulators * 2 <= MOST:
        copies *= 2
    return copies


def groups_of(values, count: int):
    """A list cut into `count` lists."""
    size = len(values) // count
    return [list(values[i * size : (i + 1) * size]) for i in range(count)]


def sum_of(groups, arithmetic):
    """Pairwise sum, lane by lane, of the copies' accumulators."""
    while len(groups) > 1:
        half = (len(groups) + 1) // 2
        pairs = zip(groups, groups[half:])
        groups = [[arithmetic.plus(x, y) for x, y in zip(*pair)] for pair in pairs] + groups[len(groups) // 2 : half]
    return groups[0]


def for_each_tile(count, tallest: int, body):
    """Cut `count` rows into tiles and emit `body(first row, height)` for each height that occurs.

    A known count is cut evenly, so at most two heights occur; otherwise the tallest tile comes first, then powers of two, as numbers of rows
    often are: 64 = 4 * 14 + 8.
    """
    if b.known(count):
        tiles = max(1, -(-count // tallest))
        low, tall = count // tiles, count % tiles
        middle = tall * (low + 1)
        heights = [(0, middle, low + 1), (middle, count, low)]
        for lower, upper, height in heights:
            if upper > lower:
                b.loop(lower, upper, height, lambda row, height=height: body(row, height))
        return
    start = 0
    for height in [tallest, *(1 << power for power in reversed(range((tallest - 1).bit_length())))]:
        rest = b.sub(count, start)
        end = b.add(start, b.sub(rest, b.rem(rest, height)))
        b.loop(start, end, height, lambda row, height=height: body(row, height))
        start = end


def heights_for(tallest: int) -> list[int]:
    """14 -> 14, 7, 4, 2, 1: any number of rows is a sum of few of them."""
    heights = [tallest]
    while heights[-1] > 1:
        heights.append(-(-heights[-1] // 2) if heights[-1] > 2 else 1)
    return heights
