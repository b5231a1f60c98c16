"""Transformer layers. Source: Vaswani et al. 2017; `norm_first` as in Xiong et al. 2020."""
from __future__ import annotations

import copy
from typing import Callable

from .. import ops
from ...errors import OnemlirError
from . import init
from .attention import causal_mask, MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

_ACTIVATIONS = {"relu": ops.relu, "gelu": ops.gelu}


class TransformerLayer(Module):
    """Base of encoder and decoder layers: attention and a feed-forward network, each with dropout, a residual and a layer norm.

    d_model: size of the vectors; nhead: heads; dim_feedforward: width inside; activation: "relu", "gelu" or a function;
    norm_first: normalise before each block, not after it.
    """

    blocks = 2

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: str | Callable = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, bias: bool = True, dtype=None):
        super().__init__()
        for name in ("self_attn", "multihead_attn")[:self.blocks - 1]:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype))
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype)
        self.norm_first = norm_first
        for number in range(1, self.blocks + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype))
        for number in range(1, self.blocks + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = activation_function(activation)

    def _residual(self, number: int, x, block: Callable):
        """x plus a block's result, normalised before or after."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(block(norm(x)))
        return norm(x + dropout(block(x)))

    def _feed_forward(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _self_attention(self, x, mask, padding_mask, is_causal: bool):
        return self.self_attn(x, x, x, key_padding_mask=padding_mask, need_weights=False, attn_mask=mask, is_causal=is_causal)[0]


class TransformerEncoderLayer(TransformerLayer):
    """Self-attention, then a feed-forward network. src: (S, N, d_model), (N, S, d_model) with batch_first, or (S, d_model)."""

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal: bool = False):
        x = self._residual(1, src, lambda y: self._self_attention(y, src_mask, src_key_padding_mask, is_causal))
        return self._residual(2, x, self._feed_forward)


class TransformerDecoderLayer(TransformerLayer):
    """Self-attention, attention to `memory`, then a feed-forward network. Shapes as in the encoder layer."""

    blocks = 3

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                tgt_is_causal: bool = False, memory_is_causal: bool = False):
        x = self._residual(1, tgt, lambda y: self._self_attention(y, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self._residual(2, x, lambda y: self.multihead_attn(y, memory, memory, key_padding_mask=memory_key_padding_mask, need_weights=False,
                                                               attn_mask=memory_mask, is_causal=memory_is_causal)[0])
        return self._residual(3, x, self._feed_forward)


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, one after another, and `norm` at the end unless None."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
                 mask_check: bool = True):
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.add_module("norm", norm)

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal: bool | None = None):
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, one after another, and `norm` at the end unless None."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None):
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(decoder_layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.add_module("norm", norm)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                tgt_is_causal: bool | None = None, memory_is_causal: bool = False):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, bool(tgt_is_causal), memory_is_causal)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of `src` and a decoder of `tgt` that attends to it. Matrices are initialised Xavier-uniform."""

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
                 dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | Callable = "relu",
                 custom_encoder: Module | None = None, custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True, dtype=None):
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, dtype)
        last_norm = lambda: LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.encoder = custom_encoder or TransformerEncoder(TransformerEncoderLayer(*options), num_encoder_layers, last_norm())
        self.decoder = custom_decoder or TransformerDecoder(TransformerDecoderLayer(*options), num_decoder_layers, last_norm())
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False):
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal, memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(size, dtype=None):
        """-inf where a position would see what comes after it, else 0: (size, size)."""
        return causal_mask(size, size) if dtype is None else causal_mask(size, size, dtype)


def activation_function(activation: str | Callable) -> Callable:
    """ops.relu or ops.gelu by name; a function as it is."""
    if callable(activation):
        return activation
    if activation not in _ACTIVATIONS:
        raise OnemlirError(f"activation must be 'relu', 'gelu' or a function, found {activation!r}")
    return _ACTIVATIONS[activation]
