"""Models that packages on the registry ship: read, compiled, written again; the outputs are those of onnxruntime.

The packages and their licences: magika (Apache-2.0), which the extra `test` installs; swift-f0 (MIT), silero-vad (MIT), text2tashkeel
(Apache-2.0), nudenet (MIT) and rapidocr (Apache-2.0), which the extra `models` installs. silero-vad needs torch: where there is none yet,
pip brings the one with CUDA.
"""
from importlib import metadata

import numpy as np
import onnx
import pytest

import onemlir as om


def text(rng):
    """The first and the last 1024 bytes of a file, 256 where it is shorter."""
    line = np.frombuffer(b"def area(width, height):\n    return width * height\n" * 30, np.uint8)
    return {"bytes": np.concatenate([line[:1024], line[-1024:]])[None].astype(np.int32)}


def tone(rng, count: int):
    """200 Hz with noise, at 16,000 samples a second."""
    return (0.4 * np.sin(np.arange(count) * 2 * np.pi * 200 / 16000) + 0.02 * rng.standard_normal(count)).astype(np.float32)[None]


def pitch(rng):
    return {"audio": tone(rng, 4000), "fmin": np.asarray(50, np.float32), "fmax": np.asarray(1500, np.float32)}


def speech(rng, rate: int = 16000):
    return {"input": tone(rng, 512 if rate == 16000 else 256), "state": np.zeros((2, 1, 128), np.float32), "sr": np.asarray(rate)}


def windows(rng):
    return {"input": np.concatenate([tone(rng, 576) for _ in range(3)]), "h": np.zeros((1, 1, 128), np.float32), "c": np.zeros((1, 1, 128), np.float32)}


def image(name: str, *shape: int):
    return lambda rng: {name: rng.random(shape).astype(np.float32)}


def letters(name: str):
    return lambda rng: {name: rng.integers(1, 40, (1, 12))}


# Package, the end of the file's name, inputs, and the error that is allowed, as a part of the largest output: quantized models round
# numbers the other way where they lie in the middle.
MODELS = [
    ("magika", "model.onnx", text, 1e-5),
    ("swift-f0", "model.onnx", pitch, 1e-5),
    ("silero-vad", "silero_vad.onnx", speech, 1e-5),
    ("silero-vad", "silero_vad.onnx", lambda rng: speech(rng, 8000), 1e-5),
    ("silero-vad", "silero_vad_16k_sequence.onnx", windows, 1e-5),
    ("text2tashkeel", "rawi_v2.int8.onnx", letters("input"), 0.02),
    ("nudenet", "320n.onnx", image("images", 1, 3, 320, 320), 1e-5),
    ("rapidocr", "PP-OCRv6_det_small.onnx", image("x", 1, 3, 64, 96), 1e-4),
    ("rapidocr", "PP-OCRv6_rec_small.onnx", image("x", 1, 3, 48, 80), 1e-4),
    ("rapidocr", "cls_mobile.onnx", image("x", 1, 3, 48, 96), 1e-4),
]


def model_file(package: str, end: str):
    """Where an installed package has a model; the test is skipped where it is not installed."""
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"the package {package} is not installed: pip install 'onemlir[models]'")
    found = [file.locate() for file in files if file.name.endswith(end)]
    assert found, f"{package} {metadata.version(package)} has no model {end}"
    return found[0]


def same(outputs, wanted, allowed: float) -> None:
    for got, want in zip(outputs, wanted, strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=0, atol=allowed * max(np.abs(want).max(), 0.1))


@pytest.mark.filterwarnings("ignore:run-time checks are left out")
@pytest.mark.parametrize("package, end, inputs, allowed", MODELS, ids=[f"{m[0]}-{m[1]}-{i}" for i, m in enumerate(MODELS)])
def test_model(package, end, inputs, allowed, tmp_path):
    import onnxruntime

    path, given = model_file(package, end), inputs(np.random.default_rng(3))
    given = {info.name: given[info.name] for info in onnx.load(path).graph.input}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    wanted = onnxruntime.InferenceSession(path, options).run(None, given)
    traced = om.from_onnx(path)
    same(traced.session().run(given).values(), wanted, allowed)
    traced.save_onnx(tmp_path / "again.onnx")
    onnx.checker.check_model(str(tmp_path / "again.onnx"), full_check=True)
    same(onnxruntime.InferenceSession(tmp_path / "again.onnx", options).run(None, given), wanted, allowed)
