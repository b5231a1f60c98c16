"""What is written is read back, by our reader and by everybody's tools."""
import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Mapping

import hypothesis.strategies as st
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import HealthCheck, given, settings

from onemlir.dialect import onemodel
from onemlir.dialect.onemodel import zip_records
from onemlir.dialect.onemodel.safetensors import DTYPES
from onemlir.errors import FormatError

WEIGHTS = "weights.safetensors"


def same(a, b):
    """Equal dtype (whatever the byte order), shape and values, bit by bit."""
    a = a.astype(a.dtype.newbyteorder("<"))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_everything_comes_back(forge):
    manifest, graph, weights = forge.read(forge.written(), verify=True)
    assert {key: manifest[key] for key in forge.manifest} == forge.manifest
    assert manifest["format_version"] == onemodel.FORMAT_VERSION
    assert graph == forge.graph
    assert sorted(weights) == sorted(forge.weights)
    assert all(same(array, weights[name]) for name, array in forge.weights.items())


def test_what_was_read_can_be_written_again(forge):
    data = forge.written()
    copy = forge.path.with_name("copy.onemodel")
    onemodel.write(copy, *onemodel.read(forge.path))
    assert copy.read_bytes() == data


def test_a_file_can_be_replaced_by_what_was_read_from_it(forge):
    data = forge.written()
    manifest, graph, weights = onemodel.read(forge.path)
    onemodel.write(forge.path, manifest, graph, weights)
    assert forge.path.read_bytes() == data
    assert same(forge.weights["0.weight"], weights["0.weight"])


def test_bytes_depend_on_content_alone(forge):
    data = forge.written()
    forge.manifest = dict(reversed(forge.manifest.items()))
    forge.weights = {name: np.array(array, order="F") for name, array in reversed(forge.weights.items())}
    assert forge.written() == data


def test_arrays_are_aligned_read_only_views(forge):
    _, _, weights = forge.read(forge.written())
    for name in weights:
        array = weights[name]
        assert not array.flags.writeable and not array.flags.owndata and array.flags.aligned
        assert array is weights[name]
    assert weights["0.weight"].ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        weights["scalar"][...] = 1
    with pytest.raises(KeyError):
        weights["absent"]


def test_arrays_outlive_the_mapping_and_the_file(forge):
    array = forge.read(forge.written())[2]["0.weight"]
    forge.path.unlink()
    assert same(forge.weights["0.weight"], array)


def test_entries_start_at_multiples_of_64(forge):
    with zipfile.ZipFile(io.BytesIO(forge.written())) as archive:
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED and info.date_time == (1980, 1, 1, 0, 0, 0)
            with archive.open(info) as entry:
                entry.read(0)
                assert archive.fp.tell() % 64 == 0


def test_zip_tools_can_unpack_it(forge, tmp_path):
    forge.written()
    with zipfile.ZipFile(forge.path) as archive:
        assert archive.namelist() == ["manifest.json", "graph.mlir", WEIGHTS]
        assert archive.testzip() is None
        archive.extractall(tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["producer"] == "onemlir test"
    assert (tmp_path / "out" / "graph.mlir").read_text(encoding="utf-8") == forge.graph
    done = subprocess.run([sys.executable, "-m", "zipfile", "-t", forge.path], capture_output=True, text=True, check=True)
    assert "Done" in done.stdout


def test_safetensors_reads_the_weights(forge):
    del forge.weights["0.bias"]  # its numpy interface knows no bfloat16
    loaded = safetensors.numpy.load(forge.contents()[WEIGHTS])
    assert loaded.keys() == forge.weights.keys()
    assert all(same(array, loaded[name]) for name, array in forge.weights.items())


def test_safetensors_reads_every_dtype(forge):
    forge.weights = {name: np.zeros(3, dtype) for name, dtype in DTYPES.items()}
    for name, tensor in safetensors.deserialize(forge.contents()[WEIGHTS]):
        assert tensor["dtype"] == name and list(tensor["shape"]) == [3]
        assert len(tensor["data"]) == forge.weights[name].nbytes


def test_we_read_what_safetensors_wrote(forge):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.arange(3, dtype=np.int8)}
    raw = safetensors.numpy.save(arrays, metadata={"format": "np"})
    length = int.from_bytes(raw[:8], "little")
    weights = forge.read(forge.with_header(raw[8 : 8 + length], raw[8 + length :]))[2]
    assert all(same(array, weights[name]) for name, array in arrays.items())


@st.composite
def arrays(draw):
    """An array of any dtype, shape, byte order and memory layout."""
    dtype = draw(st.sampled_from(sorted(DTYPES.values(), key=str)))
    shape = draw(st.lists(st.integers(0, 5), max_size=4))
    size = int(np.prod(shape)) * dtype.itemsize
    raw = draw(st.binary(min_size=size, max_size=size))
    array = np.frombuffer(raw, np.uint8)
    array = (array & 1).view(bool) if dtype == np.bool_ else array.view(dtype)
    array = array.reshape(shape).transpose(draw(st.permutations(range(len(shape)))))
    swap = draw(st.booleans()) and dtype.kind in "iuf" and dtype.itemsize > 1
    return array.astype(dtype.newbyteorder(">")) if swap else array


names = st.text(max_size=12).filter(lambda name: name != "__metadata__")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(names, arrays(), max_size=6), st.text(max_size=40))
def test_any_arrays_and_names(forge, weights, graph):
    forge.weights, forge.graph = weights, graph
    _, graph_again, again = forge.read(forge.written(), verify=True)
    assert graph_again == graph
    assert set(again) == set(weights)
    assert all(same(array, again[name]) and again[name].flags.aligned for name, array in weights.items())
    assert {name for name, _ in safetensors.deserialize(forge.contents()[WEIGHTS])} == set(weights)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_any_metadata(forge, metadata):
    forge.manifest["metadata"] = metadata
    assert forge.read(forge.written())[0]["metadata"] == metadata


def test_metadata_is_optional_and_tuples_become_lists(forge):
    del forge.manifest["metadata"]
    forge.manifest["inputs"] = ({"name": "x", "dtype": "bool", "axes": ()},)
    manifest = forge.read(forge.written())[0]
    assert manifest["metadata"] == {} and manifest["inputs"] == [{"name": "x", "dtype": "bool", "axes": []}]


def test_a_model_without_weights(forge):
    forge.weights = {}
    weights = forge.read(forge.written(), verify=True)[2]
    assert len(weights) == 0 and weights.nbytes == 0 and safetensors.numpy.load(forge.contents()[WEIGHTS]) == {}


def test_zip64_records_are_written_and_read(forge, monkeypatch):
    """As for a file beyond 4 GB, with the limit lowered so that no size or offset but 0 counts as short."""
    assert b"PK\x06\x06" not in forge.written()
    monkeypatch.setattr(zip_records, "LARGEST_SHORT", 0)
    data = forge.written()
    assert b"PK\x06\x06" in data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
    weights = forge.read(data, verify=True)[2]
    assert all(same(array, weights[name]) for name, array in forge.weights.items())


@pytest.mark.skipif("ONEMLIR_LARGE_TESTS" not in os.environ, reason="writes 4.3 GB; set ONEMLIR_LARGE_TESTS")
def test_a_file_beyond_4_gb(forge):
    row = np.arange(2**28, dtype=np.float32)
    forge.weights = {"large": np.broadcast_to(row, (4, 2**28)), "small": np.ones(3, np.float16)}
    onemodel.write(forge.path, forge.manifest, forge.graph, forge.weights)
    assert zipfile.ZipFile(forge.path).getinfo(WEIGHTS).file_size > 2**32
    weights = onemodel.read(forge.path, verify=True)[2]
    assert np.array_equal(weights["large"][3, -5:], row[-5:]) and same(forge.weights["small"], weights["small"])


class Lazy(Mapping):
    """Weights that are made when asked for; remembers how many bytes were alive at once."""

    def __init__(self, count, size):
        self.names, self.size = [f"w{i}" for i in range(count)], size

    def __getitem__(self, name):
        return np.full(self.size, int(name[1:]), np.float32).T

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)


def test_writing_holds_one_array_at_a_time_and_reading_none(forge):
    weights = Lazy(20, (1000, 1000))
    tracemalloc.start()
    try:
        onemodel.write(forge.path, forge.manifest, forge.graph, weights)
        assert tracemalloc.get_traced_memory()[1] < 9e6  # two arrays of 4 MB and small chunks, of 80 MB in all
        tracemalloc.reset_peak()
        _, _, again = onemodel.read(forge.path)
        assert again["w19"][500, 500] == 19
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


def test_a_failed_write_leaves_the_old_file_and_no_other(forge):
    data = forge.written()

    class Failing(dict):
        def __getitem__(self, name):
            raise OSError("disk on fire")

    with pytest.raises(OSError, match="disk on fire"):
        onemodel.write(forge.path, forge.manifest, forge.graph, Failing(forge.weights))
    assert forge.path.read_bytes() == data and os.listdir(forge.path.parent) == [forge.path.name]


def test_a_weight_that_changes_while_it_is_written(forge):
    class Changing(dict):
        def __getitem__(self, name):
            return np.zeros(1)

    with pytest.raises(FormatError, match=r"weight .* as float64\[1\] when written; expected "):
        onemodel.write(forge.path, forge.manifest, forge.graph, Changing(forge.weights))
    assert not forge.path.exists()


def test_writing_through_a_symbolic_link_keeps_the_link(forge):
    link = forge.path.with_name("link.onemodel")
    link.symlink_to(forge.path)
    onemodel.write(link, forge.manifest, forge.graph, forge.weights)
    assert link.is_symlink() and forge.path.exists()


def test_a_new_file_has_the_usual_permissions(forge):
    forge.written()
    other = forge.path.with_name("other")
    other.touch()
    assert forge.path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(weights={"x": np.zeros(2, np.complex64)}), "found dtype complex64 of weight 'x'; expected one of bool, "),
        (dict(weights={"x": np.array(["text"])}), "found dtype <U4 of weight 'x'"),
        (dict(weights={"x": np.array([object()])}), "found dtype object of weight 'x'"),
        (dict(weights={"x": [1.0]}), "found a list for weight 'x'; expected a numpy array"),
        (dict(weights={"__metadata__": np.zeros(2)}), "a weight named '__metadata__'"),
        (dict(weights={"\ud800": np.zeros(2)}), r"a weight named '\ud800'"),
        (dict(weights={1: np.zeros(2)}), "a weight named 1"),
        (dict(graph="\ud800"), "graph.mlir: found a lone surrogate at character 0"),
        (dict(manifest={}), "manifest.json: found no key 'inputs', 'opset_version', 'outputs', 'producer'"),
    ],
)
def test_content_that_the_format_cannot_hold(forge, change, message):
    for name, value in change.items():
        setattr(forge, name, value)
    with pytest.raises(FormatError) as caught:
        forge.written()
    assert str(caught.value).startswith(str(forge.path)) and message in str(caught.value)
    assert os.listdir(forge.path.parent) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, 2**64, object(), b"bytes", "\udc00", np.float32(1)])
def test_metadata_that_json_would_change(forge, value):
    forge.manifest["metadata"] = {"key": value}
    with pytest.raises(FormatError, match=r"manifest\.json: found "):
        forge.written()


def test_metadata_nested_too_deep(forge):
    value = forge.manifest["metadata"]
    for _ in range(40):
        value["deeper"] = value = {}
    with pytest.raises(FormatError, match="nested more than 32 deep"):
        forge.written()


def test_importing_needs_no_compiler():
    code = "import sys, onemlir.dialect.onemodel; print({'mlir', 'torch', 'onnx', 'safetensors'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
