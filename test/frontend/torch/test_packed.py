"""Packed sequences whose lengths are an input, against torch."""
import pytest

torch = pytest.importorskip("torch")

from torch.nn.utils.rnn import pack_padded_sequence, PackedSequence, pad_packed_sequence  # noqa: E402

import onemlir as om  # noqa: E402


class Packed(torch.nn.Module):
    def __init__(self, kind, padding=0.0, total=False, batch_first=True, enforce_sorted=False, **options):
        super().__init__()
        torch.manual_seed(0)
        self.network = kind(3, 4, batch_first=batch_first, **options)
        self.padding, self.total, self.batch_first, self.enforce_sorted = padding, total, batch_first, enforce_sorted

    def forward(self, x, lengths):
        rows = pack_padded_sequence(x, lengths, self.batch_first, self.enforce_sorted)
        y, states = self.network(rows)
        total = x.shape[int(self.batch_first)] if self.total else None
        return pad_packed_sequence(y, self.batch_first, self.padding, total), states


class OnRows(torch.nn.Module):
    """A layer that takes the rows of the packed sequence."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.network = torch.nn.Linear(3, 2), torch.nn.GRU(2, 4)

    def forward(self, x, lengths):
        rows = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        rows = PackedSequence(self.layer(rows.data), *rows[1:])
        y, h = self.network(rows)
        return pad_packed_sequence(y), h, rows


MODELS = {
    "two layers, both directions": (Packed(torch.nn.LSTM, num_layers=2, bidirectional=True), [2, 5, 3], [7, 1]),
    "padded to the input": (Packed(torch.nn.GRU, padding=-1.0, total=True), [2, 5, 3], [5, 1]),
    "scripted": (torch.jit.script(Packed(torch.nn.LSTM)), [2, 5, 3], [7, 1]),
    "sorted, time first": (Packed(torch.nn.RNN, batch_first=False, enforce_sorted=True), [5, 3, 3], [7, 2]),
    "rows": (OnRows(), [2, 5, 3], [1, 7]),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_lengths_are_an_input(name, agrees):
    model, *lengths = MODELS[name]
    draw = torch.Generator().manual_seed(0)
    inputs = [(torch.randn(len(n), 7, 3, generator=draw), torch.tensor(n)) for n in lengths]
    first = getattr(model, "batch_first", True)
    inputs = [(x if first else x.transpose(0, 1).contiguous(), n) for x, n in inputs]
    axes = ("batch", "time", None) if first else ("time", "batch", None)
    agrees(model, inputs[0], (axes, ("batch",)), inputs[1:])


def test_wrong_lengths_are_refused(interpreted):
    model, x = Packed(torch.nn.RNN, enforce_sorted=True), torch.ones(2, 4, 3)
    traced = om.trace(model, x, torch.tensor([3, 2]))
    for wrong, message in ([2, 3], "longer than the one before by 1"), ([3, 0], "length 0"), ([5, 1], "length 5, but the padded axis has size 4"):
        with pytest.raises(om.GuardError, match=f"{message}.*test_packed.py"):
            interpreted(traced, [x.numpy(), torch.tensor(wrong).numpy()])
    with pytest.raises(om.OnemlirError, match="length 9.*test_packed.py"):
        om.trace(lambda x: pack_padded_sequence(x, [9, 1], batch_first=True).data, x)
