"""Well-formed archives whose manifest, graph or weights are not."""
import pytest

from onemlir.dialect.onemodel.safetensors import LARGEST_HEADER

PORT = {"name": "x", "dtype": "float32", "axes": []}


def test_a_newer_version_is_named_before_anything_else_is_judged(forge):
    data = forge.with_manifest(format_version=2, shiny=True, opset_version="new")
    message = forge.refusal(data)
    assert message.endswith(
        "manifest.json: found format version 2; expected at most 1 (a newer onemlir wrote this file; upgrade onemlir to read it)"
    )
    contents = forge.contents()
    contents["manifest.json"] = b'{"format_version": 3}'
    assert "format version 3" in forge.refusal(forge.archive([*contents.items(), ("shiny.bin", b"")]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(format_version=0), "found format_version 0; expected a positive integer"),
        (dict(format_version="1"), "found format_version '1'"),
        (dict(format_version=True), "found format_version True"),
        (dict(format_version=None), "found format_version None"),
        (dict(producer=7), "found producer 7; expected text"),
        (dict(opset_version=0), "found opset_version 0; expected a positive integer"),
        (dict(opset_version=1.0), "found opset_version 1.0"),
        (dict(metadata=[]), "found metadata []; expected an object"),
        (dict(weights_header_sha256="00"), "weights_header_sha256 '00'; expected 64 lower-case"),
        (dict(weights_header_sha256=None), "weights_header_sha256 None"),
        (dict(extra=1), "found the unknown key 'extra'; expected the keys "),
        (dict(inputs={}), "manifest.json: inputs: found {}; expected a list"),
        (dict(outputs=[PORT, {}]), "outputs[1]: found no key 'axes', 'dtype', 'name'"),
        (dict(outputs=[[]]), "outputs[0]: found []; expected an object"),
        (dict(inputs=[PORT, PORT]), "inputs[1]: found the name 'x' a second time; expected unique names"),
        (dict(inputs=[{**PORT, "name": ""}]), "inputs[0]: found name ''; expected text that is not empty"),
        (dict(inputs=[{**PORT, "dtype": "float31"}]), "found dtype 'float31'; expected one of bfloat16, bool, "),
        (dict(inputs=[{**PORT, "dtype": ["float32"]}]), "found dtype ['float32']"),
        (dict(inputs=[{**PORT, "axes": None}]), "found axes None; expected a list"),
        (dict(inputs=[{**PORT, "axes": [-1]}]), "found axis -1; expected a size"),
        (dict(inputs=[{**PORT, "axes": [""]}]), "found axis ''"),
        (dict(inputs=[{**PORT, "axes": [True]}]), "found axis True"),
        (dict(inputs=[{**PORT, "axes": [2**63]}]), "found axis 9223372036854775808"),
        (dict(inputs=[{**PORT, "axes": [1.0]}]), "found axis 1.0"),
    ],
)
def test_manifest_keys(forge, change, message):
    found = forge.refusal(forge.with_manifest(**change))
    assert f"{forge.path}: manifest.json" in found and message in found


NOT_JSON = [
    (b"", "not strict JSON"),
    (b"{", "not strict JSON"),
    (b"[]", "found a JSON list; expected a JSON object"),
    (b"null", "found a JSON NoneType"),
    (b"{} {}", "not strict JSON: Extra data"),
    (b"\xff{}", "found byte 0xff at offset 0; expected UTF-8 text"),
    (b"\xef\xbb\xbf{}", "not strict JSON"),
    ('{"a": 1}'.encode("utf-16"), "expected UTF-8 text"),
    (b'{"a": 1, "a": 2}', "the key 'a' appears 2 times"),
    (b'{"a": NaN}', "NaN is not a number of JSON"),
    (b'{"a": -Infinity}', "-Infinity is not a number"),
    (b'{"a": 1e999}', "the number '1e999' is not finite"),
    (b'{"a": 18446744073709551616}', "does not fit 64 bits"),
    (b'{"a": ' + b"9" * 100_000 + b"}", "does not fit 64 bits"),
    (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested hundreds deep"),
    (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, "nested hundreds deep"),
]


@pytest.mark.parametrize(("text", "message"), NOT_JSON, ids=range(len(NOT_JSON)))
def test_manifests_and_headers_that_are_not_strict_json(forge, text, message):
    assert message in forge.refusal(forge.sealed(manifest=text))
    found = forge.refusal(forge.with_header(text))
    assert "weights.safetensors" in found and (message in found or "not strict JSON" in found)


def test_a_manifest_nested_less_than_the_parser_allows(forge):
    nested = value = {}
    for _ in range(50):
        value["a"] = value = {}
    assert "nested more than 32 deep" in forge.refusal(forge.with_manifest(metadata=nested))


def test_a_lone_surrogate_in_the_manifest(forge):
    assert r"found '\ud800'" in forge.refusal(forge.with_manifest(producer="\ud800"))


def test_a_graph_that_is_not_utf_8(forge):
    message = forge.refusal(forge.sealed(graph=b"module \xff"))
    assert message.endswith("graph.mlir: found byte 0xff at offset 7; expected UTF-8 text")


def spec(dtype="F32", shape=(2,), data_offsets=(0, 8)):
    return {"dtype": dtype, "shape": shape, "data_offsets": data_offsets}


@pytest.mark.parametrize(
    ("header", "size", "message"),
    [
        ({"a": spec(), "b": spec(data_offsets=(4, 12))}, 12,
         "'b': found data at offset 4, which overlaps the one before; expected offset 8"),
        ({"a": spec(), "b": spec()}, 8, "which overlaps the one before"),
        ({"a": spec(data_offsets=(8, 16))}, 16,
         "'a': found data at offset 8, which leaves a hole before it; expected offset 0"),
        ({"a": spec(), "b": spec(data_offsets=(12, 20))}, 20, "leaves a hole"),
        ({"a": spec()}, 16, "found 16 bytes of data; expected 8, where the last weight ends"),
        ({"a": spec()}, 4, "found 4 bytes of data; expected 8"),
        ({}, 1, "found 1 bytes of data; expected 0"),
        ({"a": spec(shape=(2**40,), data_offsets=(0, 2**42))}, 8, "found 8 bytes of data; expected 4398046511104"),
        ({"a": spec(data_offsets=(-8, 0))}, 0, "data_offsets [-8, 0]; expected a list of non-negative integers"),
        ({"a": spec(shape=(-2,))}, 8, "shape [-2]; expected a list of non-negative integers"),
        ({"a": spec(data_offsets=(8, 0))}, 8, "data_offsets [8, 0], -8 bytes; expected 8 bytes"),
        ({"a": spec(data_offsets=(0,))}, 8, "data_offsets with 1 values; expected two offsets"),
        ({"a": spec(data_offsets=(0, 4, 8))}, 8, "data_offsets with 3 values"),
        ({"a": spec(data_offsets=(0, 8.0))}, 8, "data_offsets [0, 8.0]"),
        ({"a": spec(data_offsets=(False, 8))}, 8, "data_offsets [False, 8]"),
        ({"a": spec(data_offsets="08")}, 8, "data_offsets '08'"),
        ({"a": spec(shape=None)}, 8, "shape None"),
        ({"a": spec(shape=(3,))}, 8, "found data_offsets [0, 8], 8 bytes; expected 12 bytes for shape [3] of float32"),
        ({"a": spec(shape=(2**32, 2**32, 2), data_offsets=(0, 0))}, 0, "expected at most 9223372036854775807 bytes"),
        ({"a": spec(shape=(2**62, 4), data_offsets=(0, 0))}, 0, "expected at most 9223372036854775807 bytes"),
        ({"a": spec(shape=(0, 2**63 - 1, 2**63 - 1), data_offsets=(0, 0))}, 0, "expected at most 9223372036854775807 bytes"),
        ({"a": spec(shape=(1,) * 33, data_offsets=(0, 4))}, 4, "shape with 33 values; expected at most 32 sizes"),
        ({"a": spec(dtype="F31")}, 8, "weight 'a': found dtype 'F31'; expected one of BOOL, "),
        ({"a": spec(dtype="C64")}, 16, "found dtype 'C64'"),
        ({"a": spec(dtype=["F32"])}, 8, "found dtype ['F32']"),
        ({"a": 1}, 0, "weight 'a': found 1; expected an object with the keys"),
        ({"a": {**spec(), "pickle": "..."}}, 8, "expected an object with the keys 'dtype', 'shape' and 'data_offsets'"),
        ({"a": {"dtype": "F32"}}, 0, "expected an object with the keys"),
        ({"__metadata__": {"a": 1}}, 0, "found __metadata__ {'a': 1}; expected an object whose values are text"),
        ({"__metadata__": []}, 0, "found __metadata__ []"),
        ({"\ud800": spec()}, 8, "a lone surrogate"),
        ({"a": spec("U8", (1,), (0, 1)), "b": spec("F32", (1,), (1, 5))}, 5,
         "weight 'b': found data at offset 1; expected a multiple of 4"),
    ],
)
def test_safetensors_tricks(forge, header, size, message):
    found = forge.refusal(forge.with_header(header, bytes(size)))
    assert f"{forge.path}: weights.safetensors" in found and message in found


@pytest.mark.parametrize("length", [LARGEST_HEADER + 1, 2**63, 2**64 - 1, 57, 1000])
def test_header_lengths_that_are_absurd(forge, length):
    assert "weights.safetensors: found " in forge.refusal(forge.with_header({}, length=length))


def test_a_weights_entry_too_short_for_a_header(forge):
    assert "found 3 bytes; expected at least the 8 bytes" in forge.refusal(forge.sealed(weights=b"abc"))


def test_weights_that_do_not_start_on_64_bytes(forge):
    header = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    data = forge.sealed(weights=len(header).to_bytes(8, "little") + header + b"x")
    assert "found data at offset 61; expected a multiple of 64" in forge.refusal(data)


def test_duplicate_weights(forge):
    text = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    assert "the key 'a' appears 2 times" in forge.refusal(forge.with_header(text, b"x"))


def test_bools_that_are_neither_0_nor_1(forge):
    data = forge.with_header({"mask": spec("BOOL", (2,), (0, 2))}, b"\x01\x02")
    weights = forge.read(data)[2]
    with pytest.raises(Exception, match="weight 'mask': found a bool that is neither 0 nor 1; expected 0 or 1"):
        weights["mask"]
    forge.refusal(data, verify=True)


def test_text_of_the_file_cannot_spoil_the_message(forge):
    name = "\x1b[31m\n" + "x" * 10_000
    message = forge.refusal(forge.with_header({name: spec(dtype="F31")}))
    assert "\x1b" not in message and "\n" not in message
