"""Resize and grid_sample: against torch and onnx's reference, and decomposed against their references."""
import itertools

import numpy as np
import pytest

import onemlir as om
from onemlir import ops

rng = np.random.default_rng(0)
IMAGE = rng.standard_normal((2, 3, 5, 7)).astype(np.float32)
INTERPOLATE = [dict(size=(10, 9)), dict(scale_factor=2), dict(scale_factor=2.0, mode="bilinear"), dict(size=(3, 9), mode="bilinear", align_corners=True),
               dict(scale_factor=1.5, mode="bicubic"), dict(size=(4, 4), mode="nearest-exact"), dict(size=(3, 3), mode="area"),
               dict(size=(3, 4), mode="bilinear", antialias=True), dict(size=(3, 4), mode="bicubic", antialias=True), dict(size=(1, 1), mode="bilinear"),
               dict(size=(8, 8), mode="bicubic", align_corners=True), dict(scale_factor=(0.5, 0.3), mode="nearest")]


@pytest.mark.parametrize("options", INTERPOLATE, ids=str)
def test_interpolate_is_torchs(options):
    torch = pytest.importorskip("torch", reason="torch is the peer of this test")
    expected = torch.nn.functional.interpolate(torch.tensor(IMAGE), **options).numpy()
    np.testing.assert_allclose(ops.interpolate(om.tensor(IMAGE), **options).numpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [o for o in INTERPOLATE if o.get("mode") != "area"], ids=str)
def test_interpolate_decomposes(options, assert_decomposes):
    assert_decomposes(lambda x: ops.interpolate(x, **options), [om.tensor(IMAGE)._array], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_interpolate_of_symbolic_sizes(mode, assert_decomposes):
    """Twice the size, whatever it is."""
    def double(x):
        return ops.interpolate(x, size=(x.shape[2] * 2, x.shape[3] * 2), mode=mode)
    assert_decomposes(double, [IMAGE], examples=[IMAGE[:1, :, :4, :3]], axes=("n", None, "h", "w"), rtol=1e-4, atol=1e-5)


CASES = list(itertools.product(["linear", "nearest", "cubic"], ["zeros", "border", "reflection"], [True, False]))


@pytest.mark.parametrize("mode,padding,corners", CASES)
def test_grid_sample_is_torchs(mode, padding, corners, assert_decomposes):
    torch = pytest.importorskip("torch", reason="torch is the peer of this test")
    grid = rng.uniform(-1.4, 1.4, (2, 4, 6, 2)).astype(np.float32)
    torch_mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    expected = torch.nn.functional.grid_sample(torch.tensor(IMAGE), torch.tensor(grid), torch_mode, padding, corners).numpy()
    function = lambda x, g: ops.grid_sample(x, g, mode=mode, padding_mode=padding, align_corners=corners)
    np.testing.assert_allclose(function(om.tensor(IMAGE), om.tensor(grid)).numpy(), expected, rtol=1e-4, atol=1e-5)
    assert_decomposes(function, [IMAGE, grid], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("corners", [True, False])
def test_grid_sample_of_volumes(corners, assert_decomposes):
    torch = pytest.importorskip("torch", reason="torch is the peer of this test")
    volume = rng.standard_normal((1, 2, 3, 4, 5)).astype(np.float32)
    grid = rng.uniform(-1.2, 1.2, (1, 2, 3, 2, 3)).astype(np.float32)
    expected = torch.nn.functional.grid_sample(torch.tensor(volume), torch.tensor(grid), align_corners=corners).numpy()
    np.testing.assert_allclose(ops.grid_sample(om.tensor(volume), om.tensor(grid), align_corners=corners).numpy(), expected, rtol=1e-4, atol=1e-5)
    assert_decomposes(lambda x, g: ops.grid_sample(x, g, align_corners=corners), [volume, grid])


@pytest.mark.parametrize("corners", [True, False])
def test_affine_grid_is_torchs(corners):
    torch = pytest.importorskip("torch", reason="torch is the peer of this test")
    for shape, theta in (((2, 3, 4, 5), (2, 2, 3)), ((1, 2, 3, 4, 5), (1, 3, 4))):
        t = rng.standard_normal(theta).astype(np.float32)
        expected = torch.nn.functional.affine_grid(torch.tensor(t), shape, align_corners=corners).numpy()
        np.testing.assert_allclose(ops.affine_grid(om.tensor(t), shape, corners).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_interpolate_refuses():
    with pytest.raises(om.OnemlirError, match="size"):
        ops.interpolate(om.tensor(IMAGE))
    with pytest.raises(om.OnemlirError, match="mode"):
        ops.interpolate(om.tensor(IMAGE), size=3, mode="cosine")
    with pytest.raises(om.ShapeError, match="trilinear"):
        ops.interpolate(om.tensor(IMAGE), size=3, mode="trilinear")


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear"])
def test_interpolate_places_samples_as_torch_between_all_sizes(mode):
    torch = pytest.importorskip("torch")
    for old in range(1, 25):
        x = np.arange(old, dtype=np.float32).reshape(1, 1, -1)
        for new in range(1, 41):
            expected = torch.nn.functional.interpolate(torch.from_numpy(x), size=new, mode=mode).numpy()
            found = ops.interpolate(om.tensor(x), size=new, mode=mode).numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4, err_msg=f"{old} to {new}")


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("old, new", [(14, 2), (20, 12), (6, 37), (21, 3)])
def test_sizes_on_the_edge_decompose_alike(mode, old, new, assert_decomposes):
    x = np.arange(old, dtype=np.float32).reshape(1, 1, -1)
    function = lambda x: ops.interpolate(x, size=new, mode=mode)
    assert_decomposes(function, [x], rtol=0, atol=0)
    assert_decomposes(function, [x], examples=[x[..., :5]], axes=(None, None, "width"), rtol=0, atol=0)
