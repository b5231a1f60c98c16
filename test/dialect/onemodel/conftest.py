"""A small model, and tools to build files that the writer would never write."""
import hashlib
import io
import json

import ml_dtypes
import numpy as np
import pytest

from onemlir.dialect import onemodel
from onemlir.dialect.onemodel import zip_records
from onemlir.dialect.onemodel.archive_writer import Entry, write_archive

NAMES = ("manifest.json", "graph.mlir", "weights.safetensors")


class Forge:
    """Builds OneModel files with any content, and reads them."""

    def __init__(self, folder):
        self.path = folder / "model.onemodel"
        self.manifest = {
            "producer": "onemlir test",
            "opset_version": 1,
            "inputs": [{"name": "input", "dtype": "float32", "axes": ["batch", 4, None]}],
            "outputs": [{"name": "output", "dtype": "bfloat16", "axes": ["2*batch+1"]}],
            "metadata": {"assumptions": ["batch > 0"], "bounds": {"batch": [1, 2.5, True, None]}},
        }
        self.graph = 'func.func @main() attributes {text = "größer"} { return }\n'
        self.weights = {
            "0.weight": np.arange(32, dtype=np.float32).reshape(4, 8),
            "0.bias": np.arange(3, dtype=ml_dtypes.bfloat16),
            "mask": np.array([True, False, True]),
            "scalar": np.array(-7, np.int64),
            "nothing": np.zeros((0, 3), np.float64),
        }

    def written(self) -> bytes:
        """The sample's file."""
        onemodel.write(self.path, self.manifest, self.graph, self.weights)
        return self.path.read_bytes()

    def contents(self) -> dict[str, bytes]:
        """The bytes of the sample's entries."""
        import zipfile

        with zipfile.ZipFile(io.BytesIO(self.written())) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def archive(self, entries) -> bytes:
        """A well-formed archive of (name, bytes) pairs."""
        file = io.BytesIO()
        write_archive(file, [Entry.of(name, data) for name, data in entries])
        return file.getvalue()

    def sealed(self, **replaced) -> bytes:
        """The sample with other bytes for `manifest`, `graph` or `weights`; checksums and digest are right."""
        contents = self.contents()
        for (name, data), key in zip(list(contents.items()), ("manifest", "graph", "weights")):
            contents[name] = replaced.get(key, data)
        if "manifest" not in replaced:
            manifest = json.loads(contents[NAMES[0]])
            manifest["weights_header_sha256"] = header_digest(contents[NAMES[2]])
            contents[NAMES[0]] = json.dumps(manifest).encode()
        return self.archive(contents.items())

    def with_manifest(self, **changes) -> bytes:
        """The sample with keys of the manifest changed."""
        return self.sealed(manifest=json.dumps({**json.loads(self.contents()[NAMES[0]]), **changes}).encode())

    def with_header(self, header, data: bytes = b"", length=None) -> bytes:
        """The sample with a weights entry of this header (an object or bytes), padded, and this data."""
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        text += b" " * (-(8 + len(text)) % 64)
        length = len(text) if length is None else length
        return self.sealed(weights=length.to_bytes(8, "little") + text + data)

    def edited(self, data: bytes, kind, number: int, **fields) -> bytes:
        """`data` with fields of the `number`th record of this kind changed."""
        position = -1
        for _ in range(number + 1):
            position = data.index(zip_records.SIGNATURES[kind], position + 1)
        record = zip_records.unpack(kind, memoryview(data), position)._replace(**fields)
        return data[:position] + zip_records.pack(record) + data[position + zip_records.size_of(kind) :]

    def read(self, data: bytes, **options):
        """What `read` makes of a file with these bytes."""
        self.path.unlink(missing_ok=True)  # a file that may be mapped is not to be cut short
        self.path.write_bytes(data)
        return onemodel.read(self.path, **options)

    def refusal(self, data: bytes, **options) -> str:
        """The message with which `read` refuses `data`; it always names the file and what was found and expected."""
        from onemlir.errors import FormatError

        with pytest.raises(FormatError) as caught:
            self.read(data, **options)
        message = str(caught.value)
        assert message.startswith(str(self.path)) and ": found " in message and "; expected " in message
        assert len(message) < 1000
        return message


def header_digest(weights: bytes) -> str:
    length = min(int.from_bytes(weights[:8], "little"), len(weights))
    return hashlib.sha256(weights[: 8 + length]).hexdigest()


@pytest.fixture
def forge(tmp_path):
    return Forge(tmp_path)
