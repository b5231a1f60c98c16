"""torch's own nn modules, recorded with a symbolic batch (and length or size where that has a meaning), against torch."""
import pytest

torch = pytest.importorskip("torch")
nn = torch.nn

BATCH = ("batch", None)
IMAGE = ("batch", None, None, None)
SIGNAL = ("batch", None, None)

# name: (module, axes, example shape, other shape)
CASES = {
    "Linear": (lambda: nn.Linear(6, 4), BATCH, (2, 6), (5, 6)),
    "Bilinear": (lambda: nn.Bilinear(3, 3, 4), None, None, None),
    "Identity": (lambda: nn.Sequential(nn.Identity(), nn.Linear(3, 3)), BATCH, (2, 3), (4, 3)),
    "Conv1d": (lambda: nn.Conv1d(3, 4, 3, stride=2, padding=1), ("batch", None, "time"), (2, 3, 9), (3, 3, 12)),
    "Conv2d": (lambda: nn.Conv2d(4, 6, 3, padding="same", groups=2), IMAGE, (2, 4, 5, 6), (3, 4, 5, 6)),
    "Conv2d reflect": (lambda: nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), IMAGE, (2, 2, 5, 5), (1, 2, 5, 5)),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2), ("batch", None, None, None, None), (2, 2, 3, 4, 3), (1, 2, 3, 4, 3)),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(3, 2, 3, stride=2), SIGNAL, (2, 3, 4), (3, 3, 4)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), ("batch", None, "time"), (2, 3, 8), (3, 3, 10)),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True), IMAGE, (2, 3, 7, 6), (3, 3, 7, 6)),
    "MaxPool2d indices": (lambda: nn.MaxPool2d(2, return_indices=True), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "AvgPool2d": (lambda: nn.AvgPool2d(2, padding=1, count_include_pad=False), IMAGE, (2, 3, 6, 6), (3, 3, 6, 6)),
    "LPPool2d": (lambda: nn.LPPool2d(2, 2), IMAGE, (2, 3, 6, 6), (3, 3, 6, 6)),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((2, 3)), IMAGE, (2, 3, 5, 6), (3, 3, 5, 6)),
    "AdaptiveAvgPool2d 1": (lambda: nn.AdaptiveAvgPool2d(1), ("batch", None, "h", "w"), (2, 3, 5, 6), (3, 3, 4, 9)),
    "AdaptiveMaxPool1d": (lambda: nn.AdaptiveMaxPool1d(3), SIGNAL, (2, 3, 7), (3, 3, 7)),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4), BATCH, (3, 4), (5, 4)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(3, affine=True), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), SIGNAL, (2, 4, 5), (3, 4, 5)),
    "LayerNorm": (lambda: nn.LayerNorm(6), ("batch", "time", None), (2, 3, 6), (4, 2, 6)),
    "RMSNorm": (lambda: nn.RMSNorm(6), ("batch", "time", None), (2, 3, 6), (4, 2, 6)),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(3), IMAGE, (2, 5, 3, 3), (3, 5, 3, 3)),
    "Dropout": (lambda: nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 2)), BATCH, (2, 4), (3, 4)),
    "RNN": (lambda: nn.RNN(4, 5, num_layers=2, batch_first=True), ("batch", "time", None), (2, 3, 4), (3, 6, 4)),
    "RNN relu": (lambda: nn.RNN(4, 5, nonlinearity="relu", bias=False), ("time", "batch", None), (3, 2, 4), (5, 3, 4)),
    "LSTM": (lambda: nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True), ("batch", "time", None), (2, 3, 4), (3, 6, 4)),
    "GRU": (lambda: nn.GRU(4, 5, batch_first=True), ("batch", "time", None), (2, 3, 4), (3, 6, 4)),
    "GRUCell": (lambda: nn.GRUCell(4, 5), BATCH, (2, 4), (3, 4)),
    "RNNCell": (lambda: nn.RNNCell(4, 5), BATCH, (2, 4), (3, 4)),
    "LSTMCell": (lambda: nn.LSTMCell(4, 5), BATCH, (2, 4), (3, 4)),
    "Flatten": (lambda: nn.Flatten(), IMAGE, (2, 3, 2, 2), (5, 3, 2, 2)),
    "Unflatten": (lambda: nn.Unflatten(1, (2, 3)), BATCH, (2, 6), (5, 6)),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), IMAGE, (2, 8, 3, 3), (1, 8, 3, 3)),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), IMAGE, (2, 2, 4, 6), (1, 2, 4, 6)),
    "ChannelShuffle": (lambda: nn.ChannelShuffle(2), IMAGE, (2, 4, 3, 3), (1, 4, 3, 3)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "Upsample bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "Upsample bicubic": (lambda: nn.Upsample(size=(7, 5), mode="bicubic"), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "ZeroPad2d": (lambda: nn.ZeroPad2d((1, 2, 0, 1)), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "ReflectionPad1d": (lambda: nn.ReflectionPad1d(2), SIGNAL, (2, 3, 4), (3, 3, 4)),
    "ReplicationPad2d": (lambda: nn.ReplicationPad2d(1), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "CircularPad1d": (lambda: nn.CircularPad1d(1), SIGNAL, (2, 3, 4), (3, 3, 4)),
    "ConstantPad1d": (lambda: nn.ConstantPad1d(1, 3.5), SIGNAL, (2, 3, 4), (3, 3, 4)),
    "Unfold": (lambda: nn.Unfold(2, stride=2), IMAGE, (2, 3, 4, 4), (3, 3, 4, 4)),
    "MultiheadAttention": (lambda: SelfAttention(8, 2), ("batch", "time", None), (2, 3, 8), (3, 5, 8)),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation="gelu"),
                                ("batch", "time", None), (2, 3, 8), (3, 5, 8)),
}  # fmt: skip
ACTIVATIONS = ["ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Sigmoid", "Tanh", "Softplus", "Softsign", "Hardtanh", "Hardswish",
               "Hardsigmoid", "Hardshrink", "Softshrink", "Tanhshrink", "LogSigmoid", "PReLU", "GLU", "RReLU", "Softmin", "Softmax", "LogSoftmax"]  # fmt: skip


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case[2]])
def test_module(name, agrees):
    torch.manual_seed(0)
    make, axes, shape, other = CASES[name]
    agrees(make(), (torch.randn(shape),), axes, [(torch.randn(other),)])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name, agrees):
    torch.manual_seed(0)
    module = getattr(nn, name)(**({"dim": 1} if "Soft" in name and "max" in name.lower() or name == "Softmin" else {}))
    agrees(module, (torch.randn(2, 6) * 3,), BATCH, [(torch.randn(3, 6) * 3,)])


def test_embedding(agrees):
    agrees(nn.Embedding(10, 4, padding_idx=0), (torch.tensor([[1, 2, 0]]),), ("batch", "time"), [(torch.tensor([[9, 3], [4, 4]]),)])


def test_embedding_bag(agrees):
    agrees(nn.EmbeddingBag(10, 4, mode="sum"), (torch.tensor([[1, 2, 0]]),), ("batch", None), [(torch.tensor([[9, 3, 1], [4, 4, 4]]),)])


def test_bilinear(agrees):
    agrees(nn.Bilinear(3, 2, 4), (torch.randn(2, 3), torch.randn(2, 2)), (BATCH, BATCH), [(torch.randn(5, 3), torch.randn(5, 2))])


def test_transformer(agrees):
    torch.manual_seed(0)
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    axes = (("batch", "source", None), ("batch", "target", None))
    agrees(model, (torch.randn(2, 3, 8), torch.randn(2, 4, 8)), axes, [(torch.randn(3, 5, 8), torch.randn(3, 2, 8))])


def test_attention_with_masks(agrees):
    """A key padding mask that is an input, together with a causal mask that the module makes."""
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

        def forward(self, x, padding):
            causal = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
            return self.layer(x, src_mask=causal, src_key_padding_mask=padding)

    example = (torch.randn(2, 3, 8), torch.tensor([[False, False, True]] * 2))
    agrees(Masked(), example, (("batch", "time", None), ("batch", "time")), [(torch.randn(1, 4, 8), torch.tensor([[False, False, False, True]]))])


def test_encoder_and_decoder_with_masks_of_the_run(agrees):
    """Whether a mask is causal is not asked where it depends on a size or is an input."""
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)
            self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1)

        def forward(self, x, mask):
            causal = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
            return self.encoder(x, mask=causal), self.decoder(x, x, tgt_mask=mask)

    causal = nn.Transformer.generate_square_subsequent_mask
    agrees(Masked(), (torch.randn(2, 3, 8), causal(3)), ((None, "time", None), ("time", "time")),
           [(torch.randn(2, 4, 8), causal(4)), (torch.randn(2, 5, 8), torch.randn(5, 5))])
