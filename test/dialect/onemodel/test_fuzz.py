"""Mutants with a fixed seed: only FormatError or a valid read may come out, in little memory."""
import json
import random
import tracemalloc

import numpy as np
import pytest

from onemlir.errors import FormatError

NUMBERS = [0, 1, 2, 7, 63, 64, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]
VALUES = [*NUMBERS, -1, 1.5, True, None, "", "F32", "BOOL", "..", "\ud800", [], {}, [0, 8], [[]], {"a": 1}, "x" * 500]


@pytest.fixture
def little_memory():
    """Fails when the test holds more than 8 MB at once: a size in a file is not to be believed."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def mutated(data: bytes, rng: random.Random) -> bytes:
    """`data` after one to three random edits."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(EDITS)(data, rng.randrange(len(data) or 1), rng)
    return data


def flip(data, at, rng):
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :] if data else data


def overwrite(data, at, rng):
    width = rng.choice((1, 2, 4, 8))
    number = rng.choice(NUMBERS) % 256**width
    return data[:at] + number.to_bytes(width, "little") + data[at + width :]


def insert(data, at, rng):
    return data[:at] + rng.randbytes(rng.choice((1, 2, 64))) + data[at:]


def delete(data, at, rng):
    return data[:at] + data[at + rng.choice((1, 2, 64, 300)) :]


def cut(data, at, rng):
    return data[:at]


def repeat(data, at, rng):
    piece = data[at : at + rng.choice((1, 30, 64, 300))]
    target = rng.randrange(len(data) or 1)
    return data[:target] + piece + data[target:]


def copy_over(data, at, rng):
    piece = data[at : at + rng.choice((4, 30, 64))]
    target = rng.randrange(len(data) or 1)
    return data[:target] + piece + data[target + len(piece) :]


EDITS = (flip, flip, overwrite, overwrite, insert, delete, cut, repeat, copy_over)


def structurally_mutated(value, rng: random.Random):
    """A JSON value with one node replaced, removed, renamed or moved."""
    value = json.loads(json.dumps(value))
    containers = [node for node in nodes(value) if isinstance(node, (dict, list)) and node]
    node = rng.choice(containers)
    key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
    action = rng.randrange(4)
    if action == 0:
        del node[key]
    elif action == 1 and isinstance(node, dict):
        node[rng.choice(["", "a", "__metadata__", "\ud800", "dtype"])] = node.pop(key)
    elif action == 2:
        node[key] = json.loads(json.dumps(rng.choice(list(nodes(value)))))
    else:
        node[key] = rng.choice(VALUES)
    return value


def nodes(value):
    yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(child)


def outcome(forge, data, **options):
    """What the reader makes of `data`: None when refused; all arrays have been touched otherwise."""
    try:
        manifest, graph, weights = forge.read(data, **options)
        for array in weights.values():
            assert array.flags.aligned and not array.flags.writeable
            array.astype(np.float32).sum()
        assert isinstance(graph, str) and json.dumps(manifest)
        return manifest, graph, {name: array.tobytes() for name, array in weights.items()}
    except FormatError as error:
        assert str(error).startswith(str(forge.path))
        return None


@pytest.mark.filterwarnings("ignore:invalid value|overflow:RuntimeWarning")
def test_mutants_of_the_file_are_refused_or_read_the_same(forge, little_memory):
    """With checksums compared no edit of the bytes can change what is read."""
    rng = random.Random(1)
    data = forge.written()
    original = outcome(forge, data, verify=True)
    read = 0
    for _ in range(3000):
        result = outcome(forge, mutated(data, rng), verify=True)
        assert result is None or result == original
        read += result is not None
    assert original is not None and read < 300


@pytest.mark.filterwarnings("ignore:invalid value|overflow:RuntimeWarning")
def test_mutants_without_checksum_of_the_weights(forge, little_memory):
    """Only the weights' values may differ."""
    rng = random.Random(2)
    data = forge.written()
    original = outcome(forge, data)
    for _ in range(1000):
        result = outcome(forge, mutated(data, rng))
        assert result is None or result[:2] == original[:2] and result[2].keys() == original[2].keys()


@pytest.mark.filterwarnings("ignore:invalid value|overflow:RuntimeWarning")
@pytest.mark.parametrize("entry", ["manifest", "graph", "weights"])
def test_mutants_of_an_entry_under_right_checksums(forge, little_memory, entry):
    rng = random.Random(entry)
    content = dict(zip(("manifest", "graph", "weights"), forge.contents().values()))[entry]
    for _ in range(400):
        outcome(forge, forge.sealed(**{entry: mutated(content, rng)}), verify=True)


@pytest.mark.filterwarnings("ignore:invalid value|overflow:RuntimeWarning")
def test_structural_mutants_of_manifest_and_header(forge, little_memory):
    rng = random.Random(3)
    contents = forge.contents()
    manifest = json.loads(contents["manifest.json"])
    weights = contents["weights.safetensors"]
    start = 8 + int.from_bytes(weights[:8], "little")
    header = json.loads(weights[8:start])
    for _ in range(400):
        text = json.dumps(structurally_mutated(manifest, rng)).encode()
        outcome(forge, forge.sealed(manifest=text), verify=True)
        outcome(forge, forge.with_header(structurally_mutated(header, rng), weights[start:]), verify=True)
