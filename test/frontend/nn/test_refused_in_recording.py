"""What belongs to training is a TraceError in a recording that names it and the user's line; eagerly it is fine."""
import inspect

import numpy as np
import pytest

from onemlir.errors import OnemlirError, ShapeError, TraceError
from onemlir.frontend import nn, tracer
from onemlir.frontend.nn import init, losses
from onemlir.frontend.tensor import Tensor

X = np.array([[0.2, 0.8], [0.6, 0.4]], np.float32)
LABELS, SIGNS, ONE = np.array([0, 1]), np.array([1.0, -1.0], np.float32), np.array([1])


def refused(function, example=X):
    with pytest.raises(TraceError) as caught:
        tracer.record(function, [Tensor(example)], {}, None, "error", {})
    return str(caught.value)


LOSSES = {
    "cross_entropy": lambda x: losses.cross_entropy(x, LABELS), "nll_loss": lambda x: losses.nll_loss(x, LABELS),
    "ctc_loss": lambda x: losses.ctc_loss(Tensor(X[:, None]), ONE[None], Tensor([2]), ONE),
    **{name: (lambda x, f=getattr(losses, name): f(x, X)) for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss", "hinge_loss",
                                                                     "hinge_embedding_loss", "soft_margin_loss", "binary_cross_entropy",
                                                                     "binary_cross_entropy_with_logits", "kl_div")},
    "gaussian_nll_loss": lambda x: losses.gaussian_nll_loss(x, X, X), "margin_ranking_loss": lambda x: losses.margin_ranking_loss(x, X, X),
    "multi_margin_loss": lambda x: losses.multi_margin_loss(x, LABELS), "cosine_embedding_loss": lambda x: losses.cosine_embedding_loss(x, X, SIGNS),
    "triplet_margin_loss": lambda x: losses.triplet_margin_loss(x, X, X),
}


def test_every_loss_is_here():
    assert set(LOSSES) == {n for n, f in vars(losses).items() if inspect.isfunction(f)}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    assert LOSSES[name](Tensor(X)).shape == ()
    message = refused(LOSSES[name])
    assert name in message and "test_refused_in_recording.py" in message


TRAINING = {
    "dropout": nn.Dropout(0.5), "Dropout1d": nn.Dropout1d(0.5), "AlphaDropout": nn.AlphaDropout(0.5), "batch_norm": nn.BatchNorm1d(2),
    "instance_norm": nn.Sequential(nn.Unflatten(1, (2, 1)), nn.InstanceNorm1d(2, track_running_stats=True)),
}


@pytest.mark.parametrize("name", TRAINING)
def test_training_mode(name):
    module = TRAINING[name].train()
    message = refused(lambda x: module(x))
    assert name in message and "eval()" in message and "test_refused_in_recording.py" in message
    assert tracer.record(module, [Tensor(X)], {}, None, "error", {}) and module.training, "the module itself is recorded in evaluation mode"


@pytest.mark.parametrize("name", ["Dropout", "Dropout1d", "AlphaDropout", "FeatureAlphaDropout"])
def test_dropout_keeps_the_mean(name):
    x = Tensor(np.random.default_rng(0).standard_normal((400, 50, 20)).astype(np.float32) + (0 if "Alpha" in name else 1))
    module = getattr(nn, name)(0.3)
    y = module(x).numpy()
    assert abs(y.mean() - x.numpy().mean()) < 0.02
    if "Alpha" in name:
        assert abs(y.std() - 1) < 0.02
    else:
        assert abs((y == 0).mean() - 0.3) < 0.01 and ((y == 0).all(-1).any() == (name == "Dropout1d"))
    assert module.eval()(x) is x
    assert nn.Dropout(0.0)(x) is x and not nn.Dropout(1.0)(x).numpy().any()
    with pytest.raises(OnemlirError, match="1.5"):
        getattr(nn, name)(1.5)


def test_initialisation_in_a_recording():
    weight = Tensor(np.zeros((2, 2), np.float32))
    assert "initialising" in refused(lambda x: init.ones_(weight))
    assert not weight.numpy().any()


@pytest.mark.parametrize("call, error, word", [
    (lambda: nn.Conv2d(3, 4, 3, groups=2), OnemlirError, "groups"), (lambda: nn.Conv2d(3, 4, (3, 3, 3)), OnemlirError, "kernel_size"),
    (lambda: nn.Conv2d(3, 4, 3, padding="full"), OnemlirError, "'full'"),
    (lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"), OnemlirError, "stride"),
    (lambda: nn.Conv2d(3, 4, 3, padding_mode="edge"), OnemlirError, "'edge'"),
    (lambda: nn.ConvTranspose1d(3, 4, 3, padding_mode="reflect"), OnemlirError, "reflect"),
    (lambda: nn.MaxPool2d(2, padding=2), OnemlirError, "half"), (lambda: nn.GroupNorm(4, 6), OnemlirError, "6 and 4"),
    (lambda: nn.EmbeddingBag(3, 4, mode="min"), OnemlirError, "'min'"),
    (lambda: nn.Embedding(3, 4, padding_idx=3), OnemlirError, "padding_idx 3"),
    (lambda: nn.RNN(3, 4, nonlinearity="gelu"), OnemlirError, "'gelu'"),
    (lambda: nn.BatchNorm2d(3)(Tensor(X)), ShapeError, r"BatchNorm2d.*\(2, 2\)"),
    (lambda: nn.BatchNorm1d(2)(Tensor(X[:1])), ShapeError, "more than one"),
    (lambda: nn.Conv1d(2, 2, 1)(Tensor(X[0])), ShapeError, r"Conv1d.*\(2,\)"),
    (lambda: nn.ReflectionPad1d(2)(Tensor(X)), ShapeError, "further"),
    (lambda: nn.LSTM(2, 0), OnemlirError, "hidden_size"), (lambda: nn.PixelShuffle(0), OnemlirError, "upscale_factor"),
    (lambda: nn.ConvTranspose1d(1, 1, 3, stride=2)(Tensor(np.zeros((1, 1, 4), np.float32)), output_size=(20,)), OnemlirError, "20"),
    (lambda: nn.ZeroPad2d((1, 2, 3)), OnemlirError, "4")])
def test_settings_that_are_refused(call, error, word):
    with pytest.raises(error, match=word):
        call()
