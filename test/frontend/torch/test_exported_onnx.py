"""Recordings of torch programs written as ONNX give the same in onnxruntime, and compiled."""
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
nn = torch.nn

TEXT = ("batch", "time", None)
IMAGE = ("batch", None, None, None)
CASES = {
    "TransformerEncoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False), TEXT,
                           (2, 3, 8), (3, 5, 8)),
    "LSTM": (lambda: nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True), TEXT, (2, 3, 4), (3, 6, 4)),
    "convolutions": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.ConvTranspose2d(4, 2, 2, stride=2),
                                           nn.Upsample(scale_factor=2, mode="bilinear"), nn.AdaptiveAvgPool2d(1), nn.Flatten()), IMAGE,
                     (2, 3, 8, 8), (1, 3, 8, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_onnxruntime(name, agrees, tmp_path):
    torch.manual_seed(0)
    make, axes, shape, other = CASES[name]
    agrees(make(), (torch.randn(shape),), axes, [(torch.randn(other),)], onnx=tmp_path / "model.onnx")


@pytest.mark.parametrize("name", ["convolutions"])
def test_compiled(name, agrees):
    torch.manual_seed(0)
    make, axes, shape, other = CASES[name]
    agrees(make(), (torch.randn(shape),), axes, [(torch.randn(other),)], compiled=True)


@pytest.mark.parametrize("name", ["Bert", "GPT2"])
def test_transformers_in_onnxruntime(name, agrees, tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    torch.manual_seed(0)
    import onemlir as om

    small = {"Bert": {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 50},
             "GPT2": {"n_embd": 16, "n_layer": 1, "n_head": 2, "vocab_size": 50, "use_cache": False}}[name]  # fmt: skip
    model = getattr(transformers, f"{name}Model")(getattr(transformers, f"{name}Config")(**small))
    axes = ((om.Axis("batch", min=2), om.Axis("time", min=2, max=100)),)
    agrees(model, (torch.randint(0, 50, (2, 5)),), axes, [(torch.randint(0, 50, (3, 7)),)], onnx=tmp_path / "model.onnx")
