"""Architectures of the transformers library from small random configurations, with symbolic batch and length, against torch."""
import pytest

import onemlir as om

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 50}
TIME = om.Axis("time", min=2, max=32)  # the models decide on whether there is one token, and whether there are too many
TEXT = ((om.Axis("batch", min=2), TIME),)
MASKED = (("batch", TIME), ("batch", TIME))


def tokens(batch, time, vocabulary=50):
    return torch.randint(0, vocabulary, (batch, time))


def padded(batch, time):
    mask = torch.ones(batch, time, dtype=torch.int64)
    mask[0, -1] = 0
    return mask


def build(name, **settings):
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**settings)
    return getattr(transformers, f"{name}Model")(config).eval()


def test_bert(agrees):
    model = build("Bert", **SMALL, max_position_embeddings=32)
    agrees(model, (tokens(2, 5),), TEXT, [(tokens(3, 7),)])


def test_bert_with_attention_mask(agrees):
    model = build("Bert", **SMALL, max_position_embeddings=32)
    agrees(model, (tokens(2, 5), padded(2, 5)), MASKED, [(tokens(3, 7), padded(3, 7))])


def test_gpt2(agrees):
    model = build("GPT2", n_embd=16, n_layer=2, n_head=2, vocab_size=50, n_positions=32, use_cache=False)
    agrees(model, (tokens(2, 5),), TEXT, [(tokens(3, 7),)])


def test_gpt2_with_attention_mask(agrees):
    model = build("GPT2", n_embd=16, n_layer=2, n_head=2, vocab_size=50, n_positions=32, use_cache=False)

    def run(ids, mask):
        return model(ids, attention_mask=mask).last_hidden_state

    agrees(run, (tokens(2, 5), padded(2, 5)), MASKED, [(tokens(1, 7), padded(1, 7))])


def test_llama(agrees):
    model = build("Llama", **SMALL, num_key_value_heads=1, max_position_embeddings=32, use_cache=False)
    agrees(model, (tokens(2, 5),), TEXT, [(tokens(3, 7),)])


def test_t5(agrees):
    model = build("T5", d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, vocab_size=50, decoder_start_token_id=0, use_cache=False)

    class Both(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, source, target):
            return self.model(input_ids=source, decoder_input_ids=target)

    agrees(Both(), (tokens(2, 5), tokens(2, 4)), (("batch", om.Axis("source", min=2)), ("batch", om.Axis("target", min=2))), [(tokens(3, 7), tokens(3, 2))])


def test_vit(agrees):
    model = build("ViT", **{k: v for k, v in SMALL.items() if k != "vocab_size"}, image_size=16, patch_size=4)
    agrees(model, (torch.randn(2, 3, 16, 16),), ("batch", None, None, None), [(torch.randn(3, 3, 16, 16),)])


def test_whisper_encoder(agrees):
    model = build("Whisper", d_model=16, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
                  decoder_ffn_dim=32, vocab_size=50, max_source_positions=10, num_mel_bins=8, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                  decoder_start_token_id=1).encoder  # fmt: skip
    agrees(model, (torch.randn(2, 8, 20),), ("batch", None, None), [(torch.randn(3, 8, 20),)])


def test_clip(agrees):
    text = {**SMALL, "max_position_embeddings": 16, "eos_token_id": 49}
    vision = {k: v for k, v in SMALL.items() if k != "vocab_size"} | {"image_size": 16, "patch_size": 4}
    model = build("CLIP", text_config=text, vision_config=vision, projection_dim=8)
    axes = ((om.Axis("captions", min=2), om.Axis("time", min=2, max=16)), ("images", None, None, None))
    agrees(model, (tokens(2, 5), torch.randn(3, 3, 16, 16)), axes, [(tokens(4, 7), torch.randn(2, 3, 16, 16))])


ONE = om.Axis("batch", min=1)
OTHERS = {
    "Qwen2": ({**SMALL, "num_key_value_heads": 1, "use_cache": False}, tokens, (2, 5), (3, 7), TEXT),
    "Bloom": ({"hidden_size": 16, "n_layer": 1, "n_head": 2, "vocab_size": 50, "use_cache": False}, tokens, (2, 5), (3, 7), TEXT),
    "MobileBert": ({**SMALL, "embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16, "num_feedforward_networks": 1}, tokens, (2, 5),
                   (1, 7), ((ONE, TIME),)),
    "DebertaV2": ({**SMALL, "num_hidden_layers": 1, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}, tokens, (2, 5), (3, 7), TEXT),
    "Mixtral": ({**SMALL, "num_hidden_layers": 1, "num_key_value_heads": 1, "num_local_experts": 4, "use_cache": False}, tokens, (2, 5), (3, 7), TEXT),
    "Longformer": ({**SMALL, "num_hidden_layers": 1, "attention_window": 4, "pad_token_id": 0}, tokens, (2, 8), (2, 8), None),
    "Segformer": ({"hidden_sizes": [8] * 4, "depths": [1] * 4, "num_attention_heads": [1] * 4, "sr_ratios": [2, 1, 1, 1], "decoder_hidden_size": 8}, torch.randn,
                  (2, 3, 32, 32), (1, 3, 32, 32), (ONE, None, None, None)),
    "Wav2Vec2": ({"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32, "conv_dim": (8, 8), "conv_stride": (2, 2),
                  "conv_kernel": (3, 3), "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2, "vocab_size": 10},
                 torch.randn, (2, 64), (1, 80), ((ONE, om.Axis("samples", min=40)),)),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_architectures(name, agrees):
    settings, make, shape, other, axes = OTHERS[name]
    agrees(build(name, **settings), (make(*shape),), axes, [(make(*other),)])


def test_longformer(agrees):
    """Windows of a symbolic length: overlapping chunks by as_strided, a count of chunks that is a tensor, a mask that is asked for its content."""
    model = build("Longformer", **SMALL, attention_window=4, max_position_embeddings=40)
    agrees(model, (tokens(2, 8),), ((om.Axis("batch", min=2), om.Axis("time", min=8, max=32, multiple_of=4)),), [(tokens(3, 12),)])
