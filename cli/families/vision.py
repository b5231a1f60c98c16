"""Convolutional classifiers: ResNet-18 (He et al. 2015) and MobileNetV2 (Sandler et al. 2018)."""
from __future__ import annotations

from ...frontend import nn, ops


class Convolution(nn.Module):
    """Convolution without bias, batch normalization, and an activation (None for none)."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, activation=ops.relu):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self.activation = activation

    def forward(self, x):
        y = self.norm(self.conv(x))
        return y if self.activation is None else self.activation(y)


class Residual(nn.Module):
    """Two 3x3 convolutions and a shortcut, projected where shapes differ."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.first = Convolution(inputs, outputs, 3, stride)
        self.second = Convolution(outputs, outputs, 3, activation=None)
        self.shortcut = Convolution(inputs, outputs, 1, stride, activation=None) if stride != 1 or inputs != outputs else nn.Identity()

    def forward(self, x):
        return ops.relu(self.second(self.first(x)) + self.shortcut(x))


class ResNet18(nn.Module):
    """Input (batch, 3, height, width), output (batch, 1000)."""

    def __init__(self):
        super().__init__()
        self.stem = Convolution(3, 64, 7, 2)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        blocks = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
        self.blocks = nn.Sequential(*[Residual(*sizes) for sizes in blocks])
        self.scores = nn.Linear(512, 1000)

    def forward(self, x):
        return self.scores(ops.mean(self.blocks(self.pool(self.stem(x))), axis=(2, 3)))


class InvertedResidual(nn.Module):
    """Expand by 1x1, filter by 3x3 depthwise, project by 1x1."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int):
        super().__init__()
        hidden = inputs * expansion
        self.expand = Convolution(inputs, hidden, 1, activation=ops.relu6) if expansion != 1 else nn.Identity()
        self.filter = Convolution(hidden, hidden, 3, stride, groups=hidden, activation=ops.relu6)
        self.project = Convolution(hidden, outputs, 1, activation=None)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.project(self.filter(self.expand(x)))
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    """Input (batch, 3, height, width), output (batch, 1000)."""

    def __init__(self):
        super().__init__()
        self.stem = Convolution(3, 32, 3, 2, activation=ops.relu6)
        blocks, inputs = [], 32
        stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
        for expansion, outputs, count, stride in stages:
            for number in range(count):
                blocks.append(InvertedResidual(inputs, outputs, stride if number == 0 else 1, expansion))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = Convolution(320, 1280, 1, activation=ops.relu6)
        self.scores = nn.Linear(1280, 1000)

    def forward(self, x):
        return self.scores(ops.mean(self.head(self.blocks(self.stem(x))), axis=(2, 3)))


def resnet18():
    return ResNet18()


def mobilenet_v2():
    return MobileNetV2()
