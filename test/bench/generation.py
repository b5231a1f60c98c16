"""Time per token of greedy decoding with a key-value cache, beside onnxruntime on torch's own export: python test/bench/generation.py

One thread, 64 tokens after a prompt of 8; both run in one process, in turns, and must choose the same tokens.
It needs torch, onnxruntime and onnxscript.
"""
import logging
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from torch import nn
from torch.nn import functional as F

import onemlir as om

PROMPT, TOKENS, ROUNDS, LONGEST = 8, 64, 7, 512


class Attention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads, self.into, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, keys, values):
        q, k, v = self.into(x).reshape(1, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        return self.out(F.scaled_dot_product_attention(q, keys, values).transpose(1, 2).flatten(2)), keys, values


class Gpt(nn.Module):
    """GPT-2's layers: one token and the cache of what came before give logits and the cache."""

    def __init__(self, width: int, heads: int, layers: int, vocabulary: int):
        super().__init__()
        self.shape = (1, heads, 0, width // heads)
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(LONGEST, width)
        self.attention = nn.ModuleList(Attention(width, heads) for _ in range(layers))
        self.first, self.second = (nn.ModuleList(nn.LayerNorm(width) for _ in range(layers)) for _ in range(2))
        inner = lambda: nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))
        self.inner = nn.ModuleList(inner() for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, token, *cache):
        x = self.tokens(token) + self.positions.weight[cache[0].shape[2]]
        grown = []
        for i, attention in enumerate(self.attention):
            y, *new = attention(self.first[i](x), *cache[2 * i:2 * i + 2])
            x = x + y
            x, grown = x + self.inner[i](self.second[i](x)), grown + new
        return self.head(self.norm(x))[:, -1], *grown


MODELS = {"width 256, 4 layers": (256, 4, 4, 2000), "width 512, 6 layers": (512, 8, 6, 8000), "width 768, 12 layers": (768, 12, 12, 16000)}


def examples(model) -> tuple:
    empty = [torch.zeros(*model.shape[:2], PROMPT, model.shape[3]) for _ in range(2 * len(model.attention))]
    return torch.tensor([[1]]), *empty


def ours(model):
    cache = (None, None, om.Axis("past", min=1, max=LONGEST - 1), None)
    traced = om.trace(model, *examples(model), axes=((None, None), *[cache] * (2 * len(model.attention))))
    session = traced.session(threads=1)
    names = traced.input_names
    return lambda arrays: list(session.run(dict(zip(names, arrays))).values())


def theirs(model):
    past = torch.export.Dim("past", min=1, max=LONGEST - 1)
    shapes = {"token": {}, "cache": ({2: past},) * (2 * len(model.attention))}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = str(Path(folder) / "model.onnx")
        torch.onnx.export(model, examples(model), path, dynamo=True, dynamic_shapes=shapes, verbose=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, options)
    names = [i.name for i in session.get_inputs()]
    return lambda arrays: session.run(None, dict(zip(names, arrays)))


def generate(step, cache) -> tuple[list[int], list[float]]:
    """The tokens chosen, and the seconds that each took."""
    ids, seconds = [1], []
    for _ in range(TOKENS):
        start = time.perf_counter()
        logits, *cache = step([np.array([ids[-1:]]), *cache])
        seconds.append(time.perf_counter() - start)
        ids.append(int(logits[0].argmax()))
    return ids, seconds


def main() -> None:
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    print(f"{'':24}{'onemlir':>10}{'onnxruntime':>13}   ms per token, 1 thread: the mean over {TOKENS} tokens of the best of {ROUNDS}")
    for name, sizes in MODELS.items():
        torch.manual_seed(0)
        model = Gpt(*sizes).eval()
        steps, times = (ours(model), theirs(model)), ([], [])
        cache = [np.random.default_rng(0).standard_normal(c.shape).astype(np.float32) for c in examples(model)[1:]]
        for _ in range(ROUNDS):
            found = [generate(step, cache) for step in steps]
            assert found[0][0] == found[1][0], "other tokens"
            for seconds, (_, taken) in zip(times, found):
                seconds.append(taken)
        milliseconds = [np.min(seconds, axis=0).mean() * 1e3 for seconds in times]
        print(f"{name:24}{milliseconds[0]:>10.3f}{milliseconds[1]:>13.3f}", flush=True)


if __name__ == "__main__":
    main()
