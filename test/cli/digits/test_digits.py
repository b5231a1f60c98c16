"""The demo's data set, its split, and the committed weights."""
import numpy as np

from onemlir.cli import digits
from onemlir.cli.digits import train


def test_the_scans_are_as_published():
    images, labels = digits.load_raw()
    assert (images.shape, images.dtype, images.max()) == ((1797, 8, 8), np.uint8, 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_split_is_fixed_and_stratified():
    data = digits.load()
    assert data.train_images.shape == (1437, 64) and data.held_out_images.shape == (360, 64)
    assert (data.train_images.dtype, data.train_labels.dtype) == (np.float32, np.int64)
    assert data.train_images.min() == 0 and data.train_images.max() == 1
    held_out, everything = np.bincount(data.held_out_labels), np.bincount(digits.load_raw()[1])
    assert np.all(np.abs(held_out - everything * 360 / 1797) < 1)
    assert data.held_out_labels[:10].tolist() == digits.load().held_out_labels[:10].tolist()


def test_no_scan_is_in_both_parts():
    data = digits.load()
    together = np.concatenate([data.train_images, data.held_out_images])
    everything = digits.load_raw()[0].reshape(-1, 64) / np.float32(16)
    assert sorted(map(bytes, together)) == sorted(map(bytes, everything.astype(np.float32)))


def test_the_committed_weights_recognise_97_percent():
    data, weights = digits.load(), digits.load_weights()
    assert {name: value.shape for name, value in weights.items()} == {
        "0.weight": (64, 64), "0.bias": (64,), "2.weight": (32, 64), "2.bias": (32,), "4.weight": (10, 32), "4.bias": (10,)
    }
    assert all(value.dtype == np.float32 for value in weights.values())
    model = train.build()
    model.load_state_dict(weights)
    assert train.accuracy(model, data.held_out_images, data.held_out_labels) >= 0.97


def test_training_is_deterministic_and_learns():
    data = digits.load()
    first, second = train.train(data, epochs=8), train.train(data, epochs=8)
    assert all(np.array_equal(first.state_dict()[name], value) for name, value in second.state_dict().items())
    assert train.accuracy(first, data.held_out_images, data.held_out_labels) > 0.9
