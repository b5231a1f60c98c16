"""A torch recording is made again on perturbed data and sizes; what depends on anything but the inputs is refused."""
import pathlib
import random

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install onemlir[torch]")

import onemlir as om  # noqa: E402

HERE = pathlib.Path(__file__).name


class Counts(torch.nn.Module):
    """Its factor grows with every call."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


def python_random(x):
    return x + random.random()


def captured_random(x):
    return x + torch.from_numpy(__import__("numpy").random.rand(3).astype("float32"))


@pytest.mark.parametrize("program", [Counts(), python_random, captured_random])
def test_what_differs_is_refused(program):
    with pytest.raises(om.TraceError, match=f"(?s)second time.*{HERE}"):
        om.trace(program, torch.ones(3))


def test_check_false_records_once():
    model = Counts()
    om.trace(model, torch.ones(3), check=False)
    assert model.calls == 1


def test_sizes_are_perturbed():
    seen = []

    def program(x):
        seen.append(x.numel().node.value.example)
        return x.flatten()

    om.trace(program, torch.ones(2, 3), axes=("batch", None))
    assert seen == [6, 9, 3]


def test_size_at_which_the_model_raises_is_an_assumption():
    def program(x):
        return torch.nn.functional.one_hot(x, 4) if SIZES.pop(0) else torch.zeros(0).reshape(2)

    SIZES = [True, False, True]
    traced = om.trace(program, torch.zeros(2, dtype=torch.int64), axes=("batch",))
    assert any(entry["kind"] == "refused size" and "batch = 3" in entry["name"] for entry in traced.assumptions)


@pytest.mark.filterwarnings("ignore::onemlir.FrozenValueWarning")
def test_frozen_answers_are_replayed(agrees):
    agrees(lambda x: x * 2 if x.sum() > 0 else x, (torch.tensor([1.0, -0.5]),), None, [(torch.tensor([3.0, 0.0]),)], on_read="freeze")


def test_check_compares_with_torch():
    calls = []

    def program(x):
        calls.append(1)
        return x * (2 if len(calls) != 4 else 3)

    with pytest.raises(om.TraceError, match="differ"):
        om.trace(program, torch.ones(2), check=[torch.ones(2), torch.zeros(2) + 4, torch.ones(2)])


def test_assumptions():
    factor = 3.0

    def program(x, power):
        return (x * factor) ** power

    kinds = {e["kind"]: e["text"] for e in om.trace(program, torch.ones(2), power=2).assumptions}
    assert "power = 2" in kinds["static argument"] and "factor = 3.0" in kinds["captured"] and "size 2" in kinds["fixed size"]
    text = [e["text"] for e in om.trace(torch.nn.Sequential(torch.nn.Linear(2, 2)), torch.ones(1, 2)).assumptions if e["kind"] == "mode"]
    assert "Linear '0' in evaluation mode" in text


def test_random_state_is_put_back():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    om.trace(lambda x: x + 1, torch.ones(2))
    assert torch.equal(torch.get_rng_state(), before)
