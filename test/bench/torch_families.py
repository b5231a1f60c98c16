"""The families of `onemlir bench` as torch modules, exported to ONNX by torch: the graphs that people arrive with."""
import io
import warnings

import torch
from torch import nn
from torch.nn import functional as F


def conv(inputs, outputs, kernel, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


class Residual(nn.Module):
    """The sum of a body and a shortcut, with an activation or none."""

    def __init__(self, body, shortcut=None, activation=None):
        super().__init__()
        self.body, self.shortcut, self.activation = body, shortcut or nn.Identity(), activation or nn.Identity()

    def forward(self, x):
        return self.activation(self.body(x) + self.shortcut(x))


def basic(inputs, outputs, stride):
    body = nn.Sequential(conv(inputs, outputs, 3, stride), conv(outputs, outputs, 3, activation=None))
    return Residual(body, conv(inputs, outputs, 1, stride, activation=None) if stride > 1 or inputs != outputs else None, nn.ReLU())


def head(width):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1000)]


def resnet18():
    widths = (64, 64, 128, 256, 512)
    blocks = [basic(a if i == 0 else b, b, 2 if i == 0 and b > 64 else 1) for a, b in zip(widths, widths[1:]) for i in range(2)]
    return nn.Sequential(conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1), *blocks, *head(512))


def inverted(inputs, outputs, stride, expansion):
    hidden = inputs * expansion
    expand = [conv(inputs, hidden, 1, activation=nn.ReLU6)] if expansion > 1 else []
    body = nn.Sequential(*expand, conv(hidden, hidden, 3, stride, hidden, nn.ReLU6), conv(hidden, outputs, 1, activation=None))
    return Residual(body) if stride == 1 and inputs == outputs else body


def mobilenet_v2():
    layers, width = [conv(3, 32, 3, 2, activation=nn.ReLU6)], 32
    for expansion, outputs, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            layers.append(inverted(width, outputs, stride if i == 0 else 1, expansion))
            width = outputs
    return nn.Sequential(*layers, conv(width, 1280, 1, activation=nn.ReLU6), *head(1280))


def encoder(width=256):
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out, self.up, self.down = (nn.Linear(a * width, b * width) for a, b in ((1, 3), (1, 1), (1, 4), (4, 1)))

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(batch, time, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, time, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(2000, 512), nn.Embedding(1024, 512)
        self.blocks, self.norm = nn.Sequential(*[Block(512, 8) for _ in range(4)]), nn.LayerNorm(512)
        self.scores = nn.Linear(512, 2000, bias=False)

    def forward(self, tokens):
        return self.scores(self.norm(self.blocks(self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1])))))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.scores = nn.LSTM(64, 128, num_layers=2, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.scores(self.lstm(x)[0])


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


BUILDERS = {"mlp": mlp, "resnet18": resnet18, "mobilenet_v2": mobilenet_v2, "encoder": encoder, "decoder": Decoder, "lstm": Tagger}


def exported(name: str, example) -> bytes:
    """The ONNX file of a family, in evaluation mode, with a symbolic batch."""
    torch.manual_seed(0)
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        axes = {"input": {0: "batch"}, "output": {0: "batch"}}
        model = BUILDERS[name]().eval()
        options = dict(input_names=["input"], output_names=["output"], dynamic_axes=axes, dynamo=False, opset_version=18)
        torch.onnx.export(model, (torch.from_numpy(example),), file, **options)
    return file.getvalue()
