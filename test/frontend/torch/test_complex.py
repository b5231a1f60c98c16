"""Fourier transforms and complex numbers in torch programs, with symbolic sizes where they may have any, against torch."""
import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402

import onemlir as om  # noqa: E402


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


class MelSpectrogram(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(32))
        self.register_buffer("filters", numbers(8, 17).abs())

    def forward(self, x):
        z = torch.stft(x, 32, 10, window=self.window, return_complex=True)
        mel = self.filters @ z[..., :-1].abs() ** 2
        return mel.clamp(min=1e-10).log10()


class SpectralLayer(torch.nn.Module):
    """As in Fourier neural operators: weights are complex, most frequencies are 0."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.complex(numbers(3, 5, 8), numbers(3, 5, 8, seed=1)))

    def forward(self, x):
        z = torch.fft.rfft(x)
        out = torch.zeros(x.shape[0], 5, x.size(-1) // 2 + 1, dtype=torch.cfloat)
        out[:, :, :8] = torch.einsum("bix,iox->box", z[:, :, :8], self.weight)
        return torch.fft.irfft(out, n=x.size(-1))


def rotated(x):
    angles = torch.outer(torch.arange(x.shape[1]).float(), torch.arange(1, 5) / 4)
    turned = torch.view_as_complex(x.reshape(*x.shape[:-1], 4, 2)) * torch.polar(torch.ones_like(angles), angles).view(1, -1, 1, 4)
    return torch.view_as_real(turned).flatten(3)


def there_and_back(x):
    window = torch.hann_window(16)
    z = torch.stft(x, 16, 5, window=window, normalized=True, return_complex=True)
    return torch.istft(z * 2, 16, 5, window=window, normalized=True, length=x.shape[-1])


def of_axes(x):
    f = torch.fft
    return (f.fft2(x).real, f.irfft2(f.rfft2(x, norm="ortho") * (1 + 2j), s=x.shape[-2:], norm="ortho"), f.fftshift(x, -1), f.fftfreq(x.shape[-1], 0.5),
            f.ifftn(f.fftn(x), s=(3, 7), dim=(0, 2)).abs(), f.ifftshift(x, 1), f.rfftfreq(8))


def of_one_axis(x):
    f = torch.fft
    real = [f.irfft(x, dim=1), f.hfft(x, 5, dim=1, norm="ortho"), f.irfft(x, 9, norm="forward")]
    pairs = [f.fft(x, norm="forward"), f.ifft(x, dim=1), f.rfft(x, 7), f.fft(torch.complex(x, x + 1), 4), f.ifft(x, dim=1, norm="ortho")]
    return [*real, *(torch.view_as_real(t.resolve_conj()) for t in pairs)]


MODELS = {
    "mel spectrogram": (MelSpectrogram, lambda n: (numbers(n, 80 + n),), ("n", om.Axis("time", min=40))),
    "scripted": (lambda: torch.jit.script(MelSpectrogram()), lambda n: (numbers(n, 80 + n),), ("n", om.Axis("time", min=40))),
    "spectral layer": (SpectralLayer, lambda n: (numbers(n, 3, 16 + n),), ("n", None, om.Axis("points", min=16))),
    "rotary": (lambda: rotated, lambda n: (numbers(n, n + 2, 3, 8),), ("n", "tokens", None, None)),
    "istft": (lambda: there_and_back, lambda n: (numbers(n, 50 + n),), ("n", om.Axis("time", min=16))),
    "several axes": (lambda: of_axes, lambda n: (numbers(2, n, 7),), (None, om.Axis("n", min=2), None)),
    "one axis": (lambda: of_one_axis, lambda n: (numbers(3, n, 6),), (None, om.Axis("n", min=2), None)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_symbolic(name, agrees):
    make, inputs, axes = MODELS[name]
    traced = agrees(make(), inputs(3), axes, [inputs(4)], rtol=1e-3, atol=1e-4)
    assert name != "spectral layer" or traced.parameters["weight"].shape == (3, 5, 8, 2)


def test_compiled_and_long(agrees):
    agrees(lambda x: torch.fft.rfft(x, norm="ortho").abs(), (numbers(2, 600),), compiled=True)
    agrees(lambda x: torch.fft.irfft(torch.fft.rfft(x), 600), (numbers(2, 600),))


OUTSIDE = torch.complex(numbers(4, 5), numbers(4, 5, seed=1))


def arithmetic(a, b):
    z = torch.complex(a, b)
    w = z * (2 - 1j) + OUTSIDE
    return (z + 1, 1 - z, z / w, 2 / z, z / 3, 1j * a, a + z, z ** 2, z ** 0.5, z.conj() * z, z.exp(), z.log(), z.sqrt(), z.sgn(), z.abs(), z.angle(), a.angle(),
            z == w, torch.isfinite(z), z.norm(), z.reciprocal(), torch.polar(a.abs(), b), torch.tensor([1j, 2]) * a[:, :2], z.to(torch.complex128), a.cfloat())


def arranged(a, b):
    z = torch.complex(a, b)
    return (z.sum(0), z.mean(), torch.where(a > 0, z, OUTSIDE), torch.cat([z, OUTSIDE]), torch.stack([z, a]), z.flatten()[3], F.pad(z, (1, 2)), z @ OUTSIDE.T,
            z.H @ OUTSIDE, z.masked_fill(a > 0, 1j), torch.vdot(z[0], z[1]), z[None].repeat(2, 1, 1), z.new_zeros(3), torch.full((2,), 1 + 2j), z.roll(1, 0))


def written(a, b):
    z = torch.complex(a, b).clone()
    z[0] = OUTSIDE[1]
    z[:, 1] += 3j
    z.real.mul_(2)
    z.imag[0] = 4
    z.mul_(OUTSIDE)
    pairs = torch.stack([a, b], -1)
    torch.view_as_complex(pairs)[1] = 1 - 1j
    return z, z.T.reshape(-1), pairs


@pytest.mark.parametrize("program", [arithmetic, arranged, written])
def test_as_torch(program, agrees):
    shown = lambda t: torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
    agrees(lambda a, b: [shown(t) for t in program(a, b)], (numbers(4, 5, seed=2), numbers(4, 5, seed=3)))


def test_complex_inputs_and_outputs_are_refused():
    with pytest.raises(om.TraceError, match="input 'input' is of torch.complex64.*\n.*view_as_real"):
        om.trace(torch.abs, OUTSIDE)
    with pytest.raises(om.TraceError, match="'a' is complex.*test_complex.py.*\n.*view_as_real"):
        om.trace(lambda x: {"a": torch.fft.fft(x)}, numbers(4))
    with pytest.raises(om.UnsupportedOpError, match="4099"):
        om.trace(lambda x: torch.fft.fft(x).real, numbers(4099))
