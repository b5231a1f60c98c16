"""Iteration over data in batches."""
from __future__ import annotations

from typing import Iterator

import numpy as np

from ..dialect.masked import refuse_masked
from ..errors import OnemlirError, ShapeError
from .random import generator
from .tensor import Tensor


class batches:
    """Batches of arrays or tensors of one leading size: each pass gives a tensor, or a tuple of one for each array.

    shuffle: another order at each pass. seed: of the order, from which alone it follows; without it the order comes from the generator that
    `onemlir.manual_seed` seeds. drop_last: leave out a last batch that is smaller. ``len()`` is the number of batches.
    """

    def __init__(self, *arrays, batch_size: int = 1, shuffle: bool = False, drop_last: bool = False, seed: int | None = None):
        if not arrays or batch_size < 1:
            raise OnemlirError(f"batches needs arrays and a positive batch_size, found {len(arrays)} arrays and {batch_size}")
        for array in arrays:
            refuse_masked(array, "an array of batches")
        self.arrays = [a._array if isinstance(a, Tensor) else np.asarray(a) for a in arrays]
        counts = {a.shape[:1] for a in self.arrays}
        if len(counts) != 1 or () in counts:
            raise ShapeError(f"batches: the arrays must have one leading size, found shapes {[a.shape for a in self.arrays]}")
        self.count, self.batch_size, self.shuffle, self.drop_last = len(self.arrays[0]), batch_size, shuffle, drop_last
        self._own = None if seed is None else np.random.default_rng(seed)

    def __len__(self) -> int:
        return self.count // self.batch_size if self.drop_last else -(-self.count // self.batch_size)

    def __iter__(self) -> Iterator:
        order = (self._own or generator()).permutation(self.count) if self.shuffle else np.arange(self.count)
        for start in range(0, len(self) * self.batch_size, self.batch_size):
            rows = order[start:start + self.batch_size]
            found = tuple(Tensor(a[rows]) for a in self.arrays)
            yield found if len(found) > 1 else found[0]
