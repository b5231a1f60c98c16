"""Convolution of bf16, NHWC in, two channels an instruction: `conv_pixels` with the words and the sums of `pair_matmul`."""

from mlir import ir
from mlir.dialects import vector

from . import build as b
from .conv_pixels import PixelConvolution
from .pair_matmul import PAIR, Pairs


class PairConvolution(PixelConvolution):
    arithmetic, step = Pairs, PAIR

    def _read(self, buffer, block, row, column, lane):
        """Two channels as a word."""
        two = b.load_vector(buffer, self._place(buffer, block, row, column, b.mul(lane, PAIR)), PAIR)
        return vector.extract(vector.bitcast(b.vector_type(1, ir.IntegerType.get_signless(32)), two), [], [0])

    def _widened(self, vec):
        return vec
