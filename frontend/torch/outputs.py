"""What a torch program returns, as containers that a recording can describe."""
from __future__ import annotations

import torch
from torch.utils import _pytree


def plain_outputs(value):
    """The value with key-value caches as tuples of (keys, values), and other containers that torch's pytree knows as lists of their parts."""
    if value is None or isinstance(value, (torch.Tensor, bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {k: plain_outputs(v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain_outputs, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain_outputs, value)) if type(value) in (list, tuple) else tuple(map(plain_outputs, value))
    if is_cache(value):
        return tuple((layer.keys, layer.values) for layer in value.layers if getattr(layer, "keys", None) is not None)
    if hasattr(value, "self_attention_cache"):
        return tuple(map(plain_outputs, (value.self_attention_cache, value.cross_attention_cache)))
    if type(value) in _pytree.SUPPORTED_NODES:
        return [plain_outputs(v) for v in _pytree.SUPPORTED_NODES[type(value)].flatten_fn(value)[0]]
    return value


def is_cache(value) -> bool:
    """Whether a value is a key-value cache as transformers makes them: layers with keys and values."""
    layers = getattr(value, "layers", None)
    return isinstance(layers, list) and all(hasattr(layer, "keys") and hasattr(layer, "values") for layer in layers)
