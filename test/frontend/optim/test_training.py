"""Batches, seeds, compiled and eager runs of one training."""
import numpy as np
import pytest

import onemlir as om
from onemlir import nn, optim
from onemlir.cli import digits


def test_batches_cover_the_data_in_order():
    found = list(om.batches(np.arange(7), np.arange(7) * 10, batch_size=3))
    assert [a.tolist() for a, _ in found] == [[0, 1, 2], [3, 4, 5], [6]] and found[2][1].tolist() == [60]
    assert len(om.batches(np.arange(7), batch_size=3)) == 3 and len(om.batches(np.arange(7), batch_size=3, drop_last=True)) == 2
    assert [a.tolist() for a in om.batches(np.arange(7), batch_size=3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]


def test_shuffling_is_seeded_and_another_at_each_pass():
    def passes():
        data = om.batches(np.arange(20), batch_size=6, shuffle=True, seed=1)
        return [[x for batch in data for x in batch.tolist()] for _ in range(2)]

    first, second = passes()
    assert sorted(first) == list(range(20)) and first != second and passes() == [first, second]


def test_shuffling_without_a_seed_follows_manual_seed():
    data = om.batches(np.arange(20), batch_size=20, shuffle=True)
    om.manual_seed(4)
    found = [x.tolist() for x in data]
    om.manual_seed(4)
    assert [x.tolist() for x in data] == found


def test_batches_refuse_what_does_not_fit():
    with pytest.raises(om.ShapeError, match=r"one leading size, found shapes \[\(3,\), \(4,\)\]"):
        om.batches(np.zeros(3), np.zeros(4))
    with pytest.raises(om.OnemlirError, match="positive batch_size"):
        om.batches(np.zeros(3), batch_size=0)


def run(compiled: bool, steps: int = 6):
    """Losses and weights of a short training with dropout and batch norm."""
    om.manual_seed(7)
    data = digits.load()
    model = nn.Sequential(nn.Linear(64, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 10))
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    loss_of = lambda parameters, x, y: nn.losses.cross_entropy(nn.functional_call(model, parameters, x), y)
    gradients = om.value_and_grad(loss_of)
    losses = []
    for x, y in list(om.batches(data.train_images.astype(np.float32), data.train_labels.astype(np.int64), batch_size=64, shuffle=True))[:steps]:
        if compiled:
            loss, found = gradients(dict(model.named_parameters()), x, y)
            for name, p in model.named_parameters():
                p.grad = found[name]
        else:
            optimizer.zero_grad()
            loss = nn.losses.cross_entropy(model(x), y)
            loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, model.state_dict()


@pytest.mark.parametrize("compiled", [False, True])
def test_seeds_give_bit_equal_runs(compiled):
    (losses, weights), (again, same) = run(compiled), run(compiled)
    assert losses == again
    for name in weights:
        np.testing.assert_array_equal(weights[name], same[name])


def test_compiled_and_eager_training_agree():
    (losses, weights), (others, more) = run(True), run(False)
    np.testing.assert_allclose(losses, others, rtol=1e-4)
    for name in weights:
        np.testing.assert_allclose(weights[name], more[name], rtol=1e-2, atol=1e-3, err_msg=name)
