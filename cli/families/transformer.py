"""Transformers: an encoder over vectors and a causal decoder over tokens."""
from __future__ import annotations

from ...frontend import nn, ops


def encoder(layers: int = 4, width: int = 256, heads: int = 4):
    """Input (batch, time, width), output of the same shape; feed-forward of four times the width."""
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, layers)


class Block(nn.Module):
    """Causal self-attention and a feed-forward part, normalized before each."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, time, width = x.shape
        parts = ops.reshape(self.qkv(self.norm1(x)), (batch, time, 3, self.heads, width // self.heads))
        q, k, v = (ops.transpose(parts[:, :, i], (0, 2, 1, 3)) for i in range(3))
        mixed = ops.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(ops.reshape(ops.transpose(mixed, (0, 2, 1, 3)), (batch, time, width)))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    """Input (batch, time) token numbers, output (batch, time, vocabulary) scores."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int, longest: int):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(longest, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(ops.arange(tokens.shape[1]))
        return self.scores(self.norm(self.blocks(x)))


def decoder():
    return Decoder(4, 512, 8, 2000, 1024)
