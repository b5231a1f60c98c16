"""A convolutional classifier of scanned digits: trained with a compiled step, then traced, compiled and deployed as a library.

    python train_digits.py [folder]

Writes weights.safetensors, digits.onemodel, digits.so and, where matplotlib is installed, curves.png into the folder.
"""
import pathlib
import sys
import tempfile

import numpy as np
from rich.progress import track

import onemlir as om
from onemlir import nn, ops, optim
from onemlir.cli import digits

EPOCHS, BATCH = 20, 32


def build() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                         nn.Flatten(), nn.Dropout(0.4), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10))


def train(model: nn.Module, images: np.ndarray, labels: np.ndarray, held_out: tuple) -> list[tuple[float, float]]:
    """The mean loss and the accuracy on the held-out scans after each epoch."""
    model.train()
    optimizer = optim.AdamW((), lr=3e-3)
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    state = optimizer.init(parameters)
    data = om.batches(images, labels, batch_size=BATCH, shuffle=True, drop_last=True)
    steps = EPOCHS * len(data)

    def loss_of(parameters, x, y):
        return nn.losses.cross_entropy(nn.functional_call(model, parameters, x), y)

    @om.jit
    def train_step(parameters, state, lr, x, y):                 # forward, backward and update are one graph
        loss, gradients = om.value_and_grad(loss_of)(parameters, x, y)
        gradients, _ = optim.clip_by_global_norm(gradients, 5.0)
        return *optimizer.update(parameters, gradients, state, lr=lr), loss

    curves = []
    for epoch in track(range(EPOCHS), description="Training"):
        losses = []
        for number, (x, y) in enumerate(data):
            share = (epoch * len(data) + number) / steps
            lr = om.tensor(3e-3 * (1 + np.cos(np.pi * share)) / 2, dtype="float32")
            parameters, state, loss = train_step(parameters, state, lr, x, y)
            losses.append(loss.item())
        model.load_state_dict(parameters)
        curves.append((float(np.mean(losses)), accuracy(model, *held_out)))
    return curves


def accuracy(model: nn.Module, images: np.ndarray, labels: np.ndarray) -> float:
    training = model.training
    model.eval()
    with om.no_grad():
        found = ops.argmax(model(om.tensor(images)), axis=1).numpy()
    model.train(training)
    return float((found == labels).mean())


def plot(curves, path: pathlib.Path) -> None:
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no plot")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, left = pyplot.subplots()
    left.plot([loss for loss, _ in curves], "tab:blue")
    left.set(xlabel="epoch", ylabel="loss")
    right = left.twinx()
    right.plot([share for _, share in curves], "tab:orange")
    right.set_ylabel("accuracy on held-out scans")
    figure.savefig(path)


def main(folder: pathlib.Path) -> None:
    om.manual_seed(7)
    data = digits.load()
    as_images = lambda pixels: pixels.reshape(-1, 1, 8, 8).astype(np.float32)
    held_out = as_images(data.held_out_images), data.held_out_labels.astype(np.int64)
    model = build()
    curves = train(model, as_images(data.train_images), data.train_labels.astype(np.int64), held_out)
    loss, share = curves[-1]
    print(f"loss {loss:.3f}, {share:.1%} of the held-out scans are recognised")
    assert share >= 0.98
    plot(curves, folder / "curves.png")
    model.save_safetensors(folder / "weights.safetensors")

    traced = model.trace(om.zeros((4, 1, 8, 8)), axes=("batch", None, None, None))   # in evaluation mode: no dropout
    traced.save(folder / "digits.onemodel")
    library = om.Session(traced.compile(folder / "digits.so"))                        # needs no compiler, no framework
    scores = library(held_out[0])
    assert (scores.argmax(1) == held_out[1]).mean() == share
    print("deployed:", ", ".join(sorted(path.name for path in folder.iterdir())))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        target = pathlib.Path(sys.argv[1])
        target.mkdir(parents=True, exist_ok=True)
        main(target)
    else:
        with tempfile.TemporaryDirectory() as name:
            main(pathlib.Path(name))
