"""Loop nests for matrix products and convolutions, in the vector dialect.

Every emitter builds at the current insertion point and location: one `scf.parallel` over independent chunks, in it `scf.for` loops around a
register tile. Operands are ranked memrefs with identity layout; sizes are read from their types, or with `memref.dim` where dynamic. The
`MatmulShape` or `ConvShape` says what is known when the kernel is planned: give None for every size that the memref types leave open.

    shape = MatmulShape(m=None, n=512, k=784)                       # C[?, 512] = A[?, 784] B, B packed
    packed_shape(784, 512, f32)                                     # (16, 784, 32) on AVX-512
    emit_pack_b(weight, packed, transposed=True)                    # once, from a torch Linear's [512, 784]

    def epilogue(vector, place):                                    # relu(C + bias + residual)
        vector = arith.addf(vector, place.operand(bias, [1]))       # bias[j]: axis 0 of it follows output axis 1
        vector = arith.addf(vector, place.operand(residual, [0, 1]))
        return arith.maximumf(vector, arith.constant(vector.type, ...))

    emit_matmul(a, packed, c, shape, epilogue)

    shape = ConvShape(64, 128, 56, 56, (3, 3), strides=(2, 2), pads=(1, 1, 1, 1))
    packed_filter_shape(shape, f32)                                 # None: use the filter as it is stored
    emit_pack_filter(filter, packed, conv_strategy(shape))
    emit_conv(x, packed, y, shape, epilogue)                        # operand axes here: [0, 1, 2, 3], a bias is [1]

    shape = replace(shape, layout_in="nhwc", layout_out="nhwc")     # what the kernels are fastest at
    shape = replace(shape, winograd=winograd_size(shape, images))   # Winograd's method where it pays: error up to 1e-5
    scratch_shape(shape, images, shape.output_size())               # None, or the f32 buffer to give: emit_conv(…, scratch=buffer)

Rules for callers:

* The output must not overlap another operand of the kernel: it holds partial sums when k is large.
* `place.operand(buffer, axes)`: `axes[i]` is the output axis that the buffer's axis i follows, None where its size is 1. In
  NHWC a bias has the axes [3].
* An epilogue is called once for each vector of a register tile: it should emit vector code and no loops. A long one is `rolled`. Its result is rounded to the
  output's element type. Products of integers sum in i32, f16 and bf16 in f32; the epilogue sees the sum.
* `memref.alloca` (static, at most 128 KiB a chunk) stands in the parallel body: the outliner must move it to the entry of
  the outlined function.
* `scf.for` may carry `llvm.loop_annotation`. After lowering, rename it to `loop_annotation` on `llvm.br`
  (`standalone.carry_loop_annotations`), or LLVM will not see it.
* `llvm.fence syncscope("singlethread")` between the taps of a convolution is an order to the compiler and no instruction.
* A chunk sums in an order of its own, so results do not depend on the number of threads.

| file | what it does |
| --- | --- |
| shapes | `MatmulShape`, `ConvShape` |
| build | indices that are known or not, loops, vectors |
| tile | the register tile; cutting rows into tiles |
| place | where a vector is stored: what an epilogue sees |
| partial | storing a part of a vector without mask registers |
| pack, matmul | products |
| dots | products of few rows by columns that lie one after the other |
| word_product, byte_matmul, pair_matmul | products of 8-bit integers and of bf16, four and two steps an instruction |
| dequantized_matmul, rounded_matmul | products by weights that stay integers of 8 or 4 bits, of f32 rows and of rows of bytes |
| byte_conv, byte_depthwise, conv_pairs | convolutions of 8-bit integers and of bf16 |
| append_rows | caches of keys and values that grow |
| conv_plan, conv | the strategy of a convolution, packing of filters |
| conv_taps | which taps lie inside the image |
| conv_pixels, conv_transposed, conv_grouped, conv_depthwise, conv_winograd | the convolution kernels |
| winograd_transforms | the transforms along one axis |
| planes | from sums [pixel][filter] to NCHW, with the epilogue |
| transpose | 16x16 squares in registers |
| standalone | compile one kernel alone: tests, benches, tuning |
"""

from .conv import can_read, emit_conv, emit_pack_filter, rolls_epilogue
from .conv_plan import conv_strategy, packed_filter_shape, scratch_shape
from .conv_winograd import winograd_size
from .matmul import emit_matmul
from .pack import emit_pack_b, packed_shape, panel_width
from .place import Place
from .shapes import ConvShape, MatmulShape

__all__ = [
    "ConvShape",
    "MatmulShape",
    "Place",
    "can_read",
    "conv_strategy",
    "emit_conv",
    "emit_matmul",
    "emit_pack_b",
    "emit_pack_filter",
    "packed_filter_shape",
    "packed_shape",
    "panel_width",
    "rolls_epilogue",
    "scratch_shape",
    "winograd_size",
]
