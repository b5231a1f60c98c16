"""`onemlir.nn.losses`: torch's losses by the names of torch.nn.functional, with its definitions and defaults.

They belong to training: inside a recording of a model each is a TraceError.
"""
from .classification import binary_cross_entropy, binary_cross_entropy_with_logits, cross_entropy, kl_div, nll_loss  # noqa: F401
from .ctc import ctc_loss  # noqa: F401
from .margin import (cosine_embedding_loss, hinge_embedding_loss, hinge_loss, margin_ranking_loss, multi_margin_loss,  # noqa: F401
                     soft_margin_loss, triplet_margin_loss)
from .regression import gaussian_nll_loss, huber_loss, l1_loss, mse_loss, poisson_nll_loss, smooth_l1_loss  # noqa: F401
