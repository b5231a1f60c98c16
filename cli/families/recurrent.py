"""A recurrent tagger."""
from __future__ import annotations

from ...frontend import nn


class LSTMTagger(nn.Module):
    """Input (batch, time, 64), output (batch, time, 10): two LSTM layers of width 128 and a linear layer."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 128, num_layers=2, batch_first=True)
        self.scores = nn.Linear(128, 10)

    def forward(self, x):
        return self.scores(self.lstm(x)[0])


def lstm_tagger():
    return LSTMTagger()
