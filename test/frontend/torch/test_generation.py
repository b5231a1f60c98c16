"""A decoder step that takes and returns a key-value cache of symbolic length, in a loop of greedy decoding."""
import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")

import onemlir as om  # noqa: E402

TOKENS = 64


class Step(torch.nn.Module):
    """One token with the cache of what came before: (logits, keys and values of each layer)."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, token, cache):
        past = transformers.DynamicCache()
        for layer, (keys, values) in enumerate(cache):
            past.update(keys, values, layer)
        position = torch.full((1, 1), cache[0][0].shape[2], dtype=torch.int64)
        output = self.model(token, past_key_values=past, position_ids=position, use_cache=True)
        return output.logits[:, -1], [(layer.keys, layer.values) for layer in output.past_key_values.layers]


def decoder(name):
    torch.manual_seed(0)
    if name == "llama":
        config = transformers.LlamaConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2, intermediate_size=48,
                                          vocab_size=60, max_position_embeddings=128)
        return transformers.LlamaForCausalLM(config).eval(), 2, 8
    config = transformers.GPT2Config(n_embd=32, n_layer=1, n_head=4, vocab_size=60, n_positions=128)
    return transformers.GPT2LMHeadModel(config).eval(), 4, 8


def greedy_in_torch(model, prompt):
    ids = prompt
    with torch.no_grad():
        for _ in range(TOKENS):
            ids = torch.cat([ids, model(ids).logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return ids[0].tolist()


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_generation(name, interpreted):
    model, heads, width = decoder(name)
    example = [(torch.zeros(1, heads, 3, width), torch.zeros(1, heads, 3, width)) for _ in range(1)]
    axes = (None, *[(None, None, om.Axis("past", min=1, max=127), None)] * 2)
    traced = om.trace(Step(model), torch.tensor([[1]]), example, axes=axes)
    session = traced.session() if name == "gpt2" else None  # compiled once; the other by the ops' references
    prompt = [3, 1, 4]
    with torch.no_grad():
        first = model(torch.tensor([prompt]), use_cache=True)
    cache = [array.numpy() for layer in first.past_key_values.layers for array in (layer.keys, layer.values)]
    ids = [*prompt, int(first.logits[0, -1].argmax())]
    for _ in range(TOKENS - 1):
        arrays = [np.array([ids[-1:]]), *cache]
        logits, *cache = interpreted(traced, arrays) if session is None else session.run(dict(zip(traced.input_names, arrays))).values()
        ids.append(int(logits[0].argmax()))
    assert ids == greedy_in_torch(model, torch.tensor([prompt]))
