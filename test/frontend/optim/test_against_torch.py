"""Optimizers, schedules and whole training runs side by side with torch."""
import numpy as np
import pytest

import onemlir as om
from onemlir import nn, optim
from onemlir.cli import digits

torch = pytest.importorskip("torch")
_rng = np.random.default_rng(0)
START, SLOPES = _rng.normal(size=(3, 2)), _rng.normal(size=(8, 3, 2))

OPTIMIZERS = [
    ("SGD", dict(lr=0.1)), ("SGD", dict(lr=0.1, momentum=0.9)), ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)),
    ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.3, maximize=True)), ("Adam", dict(lr=0.1)), ("Adam", dict(lr=0.1, betas=(0.5, 0.9), weight_decay=0.1)),
    ("Adam", dict(lr=0.1, amsgrad=True)), ("AdamW", dict(lr=0.1)), ("AdamW", dict(lr=0.1, weight_decay=0.3, amsgrad=True, maximize=True)),
    ("RMSprop", dict(lr=0.1)), ("RMSprop", dict(lr=0.1, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.1)),
    ("Adagrad", dict(lr=0.1)), ("Adagrad", dict(lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2)),
]


@pytest.mark.parametrize("name, options", OPTIMIZERS)
def test_steps(name, options):
    mine, other = nn.Parameter(START), torch.nn.Parameter(torch.tensor(START))
    a, b = getattr(optim, name)([mine], **options), getattr(torch.optim, name)([other], **options)
    functional, state = {"p": om.tensor(START)}, None
    for slope in SLOPES:
        mine.grad, other.grad = om.tensor(slope), torch.tensor(slope)
        state = a.init(functional) if state is None else state
        functional, state = a.update(functional, {"p": om.tensor(slope)}, state)
        a.step()
        b.step()
        np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=1e-10)
        np.testing.assert_allclose(functional["p"].numpy(), other.detach().numpy(), rtol=1e-10)


def test_groups_have_options_of_their_own():
    groups = lambda make: [{"params": [make(START)], "lr": 0.5}, {"params": [make(START)]}]
    ours, theirs = groups(nn.Parameter), groups(lambda a: torch.nn.Parameter(torch.tensor(a)))
    a, b = optim.SGD(ours, lr=0.1), torch.optim.SGD(theirs, lr=0.1)
    for ((p,), (q,)) in zip((g["params"] for g in ours), (g["params"] for g in theirs)):
        p.grad, q.grad = om.tensor(SLOPES[0]), torch.tensor(SLOPES[0])
    a.step()
    b.step()
    for ((p,), (q,)) in zip((g["params"] for g in ours), (g["params"] for g in theirs)):
        np.testing.assert_allclose(p.numpy(), q.detach().numpy())


def test_saved_state_goes_on_as_if_nothing_had_happened():
    p, q = nn.Parameter(START), nn.Parameter(START)
    a = optim.Adam([p], lr=0.1)
    for slope in SLOPES[:4]:
        p.grad = om.tensor(slope)
        a.step()
    b = optim.Adam([q], lr=0.5)
    b.load_state_dict(a.state_dict())
    with om.no_grad():
        q[...] = p.detach()
    for slope in SLOPES[4:]:
        p.grad = q.grad = om.tensor(slope)
        a.step()
        b.step()
    np.testing.assert_array_equal(p.numpy(), q.numpy())


def test_state_that_does_not_fit():
    a = optim.Adam([nn.Parameter(START)])
    with pytest.raises(om.OnemlirError, match=r"groups with \[1\] parameters, this optimizer has \[2\]"):
        optim.Adam([nn.Parameter(START), nn.Parameter(START)]).load_state_dict(a.state_dict())


@pytest.mark.parametrize("make, message", [
    (lambda p: optim.SGD([p], lr=-1), "'lr' must be a number that is not negative, found -1"),
    (lambda p: optim.SGD([p], lr="x"), "found 'x'"),
    (lambda p: optim.SGD(p), "a list of tensors or of groups, found Parameter"),
    (lambda p: optim.SGD([{"lr": 1.0}]), r"a dict with 'params', found \['lr'\]"),
    (lambda p: optim.StepLR(optim.SGD([p]), 0), "StepLR: step_size must be positive, found 0"), (lambda p: optim.SGD([p], nesterov=True), "nesterov needs a momentum"),
    (lambda p: optim.Adam([p], betas=(1.0, 0.9)), "'betas' must lie in"), (lambda p: optim.SGD([p, p]), "given twice"),
    (lambda p: optim.SGD([p * 2]), "leaves, found the result"), (lambda p: optim.SGD([{"params": [p], "beta": 1}]), "no option beta")])
def test_what_optimizers_refuse(make, message):
    with pytest.raises(om.OnemlirError, match=message):
        make(nn.Parameter(START))


SCHEDULES = [
    ("StepLR", dict(step_size=3, gamma=0.5)), ("MultiStepLR", dict(milestones=[2, 5], gamma=0.1)), ("ExponentialLR", dict(gamma=0.8)),
    ("LinearLR", dict(start_factor=0.2, total_iters=4)), ("CosineAnnealingLR", dict(T_max=9, eta_min=0.01)),
    ("LambdaLR", dict(lr_lambda=lambda epoch: 1 / (1 + epoch))), ("OneCycleLR", dict(max_lr=0.7, total_steps=12)),
    ("OneCycleLR", dict(max_lr=[0.7], epochs=3, steps_per_epoch=4, anneal_strategy="linear")),
    ("LambdaLR", dict(lr_lambda=[lambda epoch: 0.9 ** epoch])),
    ("ConstantLR", dict(total_iters=3)), ("PolynomialLR", dict(total_iters=6, power=2.0)), ("LinearLR", dict(total_iters=0)),
]
COMBINED = [  # functions of an optimizer and the module of schedules
    lambda o, s: [s.LinearLR(o), s.StepLR(o, 3)], lambda o, s: [s.ExponentialLR(o, 0.9), s.LinearLR(o, total_iters=4), s.CosineAnnealingLR(o, 20)],
    lambda o, s: [s.SequentialLR(o, [s.ConstantLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9), s.StepLR(o, 2)], [3, 6])],
]


@pytest.mark.parametrize("make", COMBINED)
def test_schedules_of_one_optimizer(make):
    mine, other = optim.SGD([nn.Parameter(START)], lr=0.4), torch.optim.SGD([torch.nn.Parameter(torch.tensor(START))], lr=0.4)
    ours, theirs = make(mine, optim), make(other, torch.optim.lr_scheduler)
    for step in range(9):
        np.testing.assert_allclose(mine.param_groups[0]["lr"], other.param_groups[0]["lr"], rtol=1e-9)
        other.step()
        for schedule in (*ours, *theirs):
            schedule.step()
    again = optim.SGD([nn.Parameter(START)], lr=0.4)
    restored = make(again, optim)
    again.load_state_dict(mine.state_dict())
    for schedule, saved in zip(restored, ours):
        schedule.load_state_dict(saved.state_dict())
        saved.step(), schedule.step()
    assert again.param_groups[0]["lr"] == pytest.approx(mine.param_groups[0]["lr"])


@pytest.mark.parametrize("name, options", SCHEDULES)
def test_schedules(name, options):
    mine, other = optim.SGD([nn.Parameter(START)], lr=0.4), torch.optim.SGD([torch.nn.Parameter(torch.tensor(START))], lr=0.4)
    a, b = getattr(optim, name)(mine, **options), getattr(torch.optim.lr_scheduler, name)(other, **options)
    for _ in range(9):
        np.testing.assert_allclose(mine.param_groups[0]["lr"], other.param_groups[0]["lr"], rtol=1e-9)
        other.step()
        a.step()
        b.step()


@pytest.mark.parametrize("options", [{}, {"threshold": 0.5, "threshold_mode": "abs"}])
def test_plateau(options):
    mine, other = optim.SGD([nn.Parameter(START)], lr=0.4), torch.optim.SGD([torch.nn.Parameter(torch.tensor(START))], lr=0.4)
    options |= dict(patience=1, factor=0.5, cooldown=1, min_lr=[0.06])
    a, b = optim.ReduceLROnPlateau(mine, **options), torch.optim.lr_scheduler.ReduceLROnPlateau(other, **options)
    for value in (3.0, 2.0, 2.0, 2.1, 2.2, 2.3, 2.4, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0):
        a.step(value)
        b.step(value)
        assert mine.param_groups[0]["lr"] == pytest.approx(other.param_groups[0]["lr"])


@pytest.mark.parametrize("norm_type", [1.0, 2.0, np.inf])
def test_clipping(norm_type):
    mine, other = [nn.Parameter(START) for _ in range(2)], [torch.nn.Parameter(torch.tensor(START)) for _ in range(2)]
    for i, (p, q) in enumerate(zip(mine, other)):
        p.grad, q.grad = om.tensor(SLOPES[i]), torch.tensor(SLOPES[i])
    norm = optim.clip_grad_norm_(mine, 0.7, norm_type)
    np.testing.assert_allclose(norm.item(), torch.nn.utils.clip_grad_norm_(other, 0.7, norm_type).item())
    optim.clip_grad_value_(mine, 0.1)
    torch.nn.utils.clip_grad_value_(other, 0.1)
    for p, q in zip(mine, other):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-6)


def test_clipping_as_a_function():
    scaled, norm = optim.clip_by_global_norm([om.tensor(SLOPES[0]), om.tensor(SLOPES[1])], 0.5)
    assert norm.item() == pytest.approx(np.sqrt((SLOPES[:2] ** 2).sum()))
    assert np.sqrt(sum((t.numpy() ** 2).sum() for t in scaled)) == pytest.approx(0.5, rel=1e-5)


def layers(library):
    return library.Sequential(library.Conv2d(1, 8, 3, padding=1), library.BatchNorm2d(8), library.ReLU(), library.MaxPool2d(2), library.Flatten(),
                              library.Linear(128, 32), library.GELU(), library.Linear(32, 10))


def test_a_hundred_steps_from_the_same_weights():
    data = digits.load()
    images, labels = data.train_images.reshape(-1, 1, 8, 8).astype(np.float32), data.train_labels.astype(np.int64)
    torch.manual_seed(0)
    theirs, ours = layers(torch.nn), layers(nn)
    ours.load_state_dict({name: value.numpy() for name, value in theirs.state_dict().items()})
    a, b = optim.Adam(ours.parameters(), lr=1e-3), torch.optim.Adam(theirs.parameters(), lr=1e-3)
    for step in range(100):
        rows = np.arange(step * 32, step * 32 + 32) % len(images)
        mine = nn.losses.cross_entropy(ours(om.tensor(images[rows])), labels[rows])
        other = torch.nn.functional.cross_entropy(theirs(torch.tensor(images[rows])), torch.tensor(labels[rows]))
        assert mine.item() == pytest.approx(other.item(), abs=1e-4)
        for optimizer, loss in ((a, mine), (b, other)):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert mine.item() < 1.0
