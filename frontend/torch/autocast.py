"""``torch.autocast`` on the CPU: products in the lower precision, some functions in f32, all others in the dtypes that they get.

Source: torch, "Autocast Op Reference", CPU-specific behavior.
"""
from __future__ import annotations

from typing import Callable

import torch

from .names import names_of
from .tensor import RecordedTensor

LOWER = frozenset((
    "conv1d", "conv2d", "conv3d", "bmm", "mm", "baddbmm", "addmm", "addbmm", "linear", "matmul", "linalg_matmul", "linalg_vecdot", "conv_tbc",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "scaled_dot_product_attention", "einsum", "tensordot", "chain_matmul", "linalg_multi_dot", "inner",
    "multi_head_attention_forward",
))
WIDE = frozenset((
    "avg_pool3d", "binary_cross_entropy", "grid_sampler", "grid_sample", "polar", "prod", "quantile", "nanquantile", "stft", "cdist", "trace", "view_as_complex",
    "cholesky", "cholesky_solve", "inverse", "max_pool3d", "max_unpool2d", "max_unpool3d", "adaptive_avg_pool3d", "reflection_pad1d", "reflection_pad2d",
    "replication_pad1d", "replication_pad2d", "replication_pad3d", "mse_loss", "cosine_embedding_loss", "nll_loss", "hinge_embedding_loss", "poisson_nll_loss",
    "smooth_l1_loss", "cross_entropy", "l1_loss", "huber_loss", "margin_ranking_loss", "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss",
    "ctc_loss", "kl_div", "multilabel_margin_loss", "binary_cross_entropy_with_logits", "linalg_solve", "linalg_cholesky", "linalg_inv",
    "fake_quantize_per_tensor_affine", *(f"fft_{i}{kind}fft{n}" for i in ("", "i") for kind in ("", "r", "h") for n in ("", "2", "n")),
    "fft_irfft", "fft_irfft2", "fft_irfftn",
))
RECURRENT = frozenset(("lstm", "gru", "rnn_tanh", "rnn_relu"))


def autocast(recording, function: Callable, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments in the precision that autocast gives the function."""
    names = {name.rpartition(".")[2] for name in names_of(function)}
    if names & RECURRENT:
        recording.recorder.refuse(f"{next(iter(names & RECURRENT))} under autocast", "leave it out of the region, or convert it with .bfloat16()")
    wanted = torch.get_autocast_dtype("cpu") if names & LOWER else torch.float32 if names & WIDE else None
    if wanted is None:
        return args, kwargs

    def cast(tensor):
        if tensor.dtype not in (torch.float32, torch.bfloat16, torch.float16) or tensor.dtype == wanted:
            return tensor
        return recording.call(torch.Tensor.to, (tensor, wanted), {})
    tree_map = torch.utils._pytree.tree_map_only
    return tree_map((RecordedTensor, torch.Tensor), cast, args), tree_map((RecordedTensor, torch.Tensor), cast, kwargs)
