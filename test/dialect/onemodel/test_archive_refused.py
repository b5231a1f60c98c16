"""Zip tricks and damage: the reader accounts for every byte, and says what is wrong where."""
import io
import stat
import zipfile

import numpy as np
import pytest

import onemlir as om
from onemlir.dialect import onemodel, onemodel_program
from onemlir.dialect.onemodel.zip_records import Central, End, Local, size_of
from onemlir.errors import FormatError

MANIFEST, GRAPH, WEIGHTS = "manifest.json", "graph.mlir", "weights.safetensors"


def test_every_truncation(forge):
    data = forge.written()
    for length in range(len(data)):
        forge.refusal(data[:length])


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        onemodel.read(tmp_path / "absent.onemodel")


def test_a_folder(tmp_path):
    with pytest.raises(FormatError, match="found a folder, pipe or device; expected a regular file"):
        onemodel.read(tmp_path)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip archive, but rather long" * 9, b"PK\x05\x06" + bytes(18)])
def test_other_files(forge, data):
    forge.refusal(data)


def test_appended_data(forge):
    assert "truncated, has data appended" in forge.refusal(forge.written() + b"x")


def test_an_archive_comment(forge):
    data = forge.edited(forge.written(), End, 0, comment_length=5) + b"hello"
    assert "no end record in the last 22 bytes" in forge.refusal(data)
    assert "comment of 5 bytes" in forge.refusal(data[:-5])


def test_prepended_data(forge):
    assert "expected its end at" in forge.refusal(bytes(64) + forge.written())


def test_prepended_data_with_offsets_put_right(forge):
    file = io.BytesIO(b"#!/bin/sh\n".ljust(64))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(MANIFEST, "{}")
    assert "manifest.json: found offset 64, which leaves unused bytes before it; expected 0" in forge.refusal(file.getvalue())


def test_data_between_entry_and_directory(forge):
    data = forge.written()
    start = data.index(b"PK\x01\x02")
    data = data[:start] + b"hidden" + data[start:]
    message = forge.refusal(forge.edited(data, End, 0, directory_offset=start + 6))
    assert "6 bytes between the last entry and the directory" in message


def test_data_in_the_directory(forge):
    data = forge.written()
    end = data.index(b"PK\x05\x06")
    size = end - data.index(b"PK\x01\x02")
    data = data[:end] + b"hidden" + data[end:]
    assert "6 bytes after the last of 3" in forge.refusal(forge.edited(data, End, 0, directory_size=size + 6))


def test_data_in_the_padding(forge):
    data = bytearray(forge.written())
    start = data.index(b"\x35\xd9") + 6
    data[start] = 1
    assert "found data hidden in the padding; expected zeros" in forge.refusal(bytes(data))


def test_overlapping_entries(forge):
    data = forge.edited(forge.written(), Central, 1, offset=0)
    assert "graph.mlir: found offset 0, which overlaps the entry before" in forge.refusal(data)


def test_an_entry_that_runs_into_the_directory(forge):
    data = forge.written()
    for kind in (Local, Central):
        data = forge.edited(data, kind, 2, size=100_000, packed_size=100_000)
    assert "weights.safetensors: found 100000 bytes of data" in forge.refusal(data)


def test_an_absurd_size(forge):
    data = forge.written()
    for kind in (Local, Central):
        data = forge.edited(data, kind, 0, size=0xFFFFFFF0, packed_size=0xFFFFFFF0)
    assert "manifest.json: found 4294967280 bytes of data" in forge.refusal(data)


def test_sizes_that_ask_for_a_zip64_field(forge):
    data = forge.edited(forge.written(), Central, 0, size=0xFFFFFFFF)
    assert "manifest.json: found a zip64 field of 0 bytes; expected 8" in forge.refusal(data)


@pytest.mark.parametrize("field", ["directory_offset", "directory_size", "count"])
def test_end_record_that_asks_for_zip64(forge, field):
    full = 0xFFFF if field == "count" else 0xFFFFFFFF
    assert "zip64 end records" in forge.refusal(forge.edited(forge.written(), End, 0, **{field: full}))


@pytest.mark.parametrize("count", [0, 2, 4, 1025])
def test_a_wrong_number_of_entries(forge, count):
    forge.refusal(forge.edited(forge.written(), End, 0, count=count, disk_count=count))


def test_several_disks(forge):
    assert "split over several files" in forge.refusal(forge.edited(forge.written(), End, 0, disk=1))
    assert "disk 1" in forge.refusal(forge.edited(forge.written(), Central, 1, disk=1))


@pytest.mark.parametrize("field", ["flags", "method", "time", "date", "crc", "packed_size", "size", "name_length", "signature"])
def test_headers_that_disagree(forge, field):
    record_value = b"PK\x09\x09" if field == "signature" else 2
    message = forge.refusal(forge.edited(forge.written(), Local, 1, **{field: record_value}))
    assert f"{forge.path}: graph.mlir: found " in message


def test_another_name_in_the_local_header(forge):
    data = forge.written().replace(b"graph.mlir", b"grapf.mlir", 1)
    assert "graph.mlir: found the name b'grapf.mlir' in the local header; expected 'graph.mlir'" in forge.refusal(data)


def both(forge, data, number, **fields):
    return forge.edited(forge.edited(data, Local, number, **fields), Central, number, **fields)


def test_an_encrypted_entry(forge):
    assert "graph.mlir: found an encrypted entry" in forge.refusal(both(forge, forge.written(), 1, flags=1))


def test_an_entry_with_a_data_descriptor(forge):
    assert "graph.mlir: found flags 0x0008; expected none" in forge.refusal(both(forge, forge.written(), 1, flags=8))


def test_compressed_entries_are_never_inflated(forge):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, bytes(50_000_000))
    assert "manifest.json: found compression method 8; expected 0 (stored)" in forge.refusal(file.getvalue())


def test_an_archive_packed_by_another_tool_is_not_aligned(forge):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in forge.contents().items():
            archive.writestr(zipfile.ZipInfo(name), data)
    message = forge.refusal(file.getvalue())
    assert "found data at offset 43; expected a multiple of 64 (unpack it and write it again with onemlir)" in message


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFDIR | 0o755, stat.S_IFIFO, stat.S_IFCHR])
def test_entries_that_are_no_files(forge, mode):
    data = forge.edited(forge.written(), Central, 1, external_attributes=mode << 16)
    assert "(a link, folder or device); expected a regular file" in forge.refusal(data)


def test_a_folder_by_its_dos_attribute(forge):
    assert "a regular file" in forge.refusal(forge.edited(forge.written(), Central, 1, external_attributes=0x10))


@pytest.mark.parametrize("name", ["/etc/passwd", "../graph", "a/../../b", "a\\b", "C:evil", "a//b", "./a", "folder/", "."])
def test_names_that_lead_out_of_the_folder(forge, name):
    data = forge.archive([*forge.contents().items(), (name, b"")])
    assert "expected a plain relative name" in forge.refusal(data)


@pytest.mark.parametrize("raw", [b"graph\0mlir", b"graph\nmlir", b"gr\xc3\xa4f.mlir"])
def test_names_that_are_not_printable(forge, raw):
    data = forge.written().replace(b"graph.mlir", raw.ljust(10, b"."))
    assert "expected a name in printable ASCII" in forge.refusal(data)


def test_duplicate_entries(forge):
    data = forge.archive([*forge.contents().items(), (GRAPH, b"another")])
    assert "found the entry 'graph.mlir' twice; expected each entry once" in forge.refusal(data)


def test_unknown_entries(forge):
    data = forge.archive([*forge.contents().items(), ("setup.py", b"import os")])
    message = forge.refusal(data)
    assert "'setup.py'" in message and "expected manifest.json, graph.mlir, weights.safetensors, in this order" in message


@pytest.mark.parametrize("missing", [MANIFEST, GRAPH, WEIGHTS])
def test_missing_entries(forge, missing):
    contents = forge.contents()
    del contents[missing]
    assert "expected" in forge.refusal(forge.archive(contents.items()))


def test_entries_in_another_order(forge):
    assert "in this order" in forge.refusal(forge.archive(reversed(forge.contents().items())))


def test_an_unknown_extra_field(forge):
    data = forge.written().replace(b"\x35\xd9", b"\x36\xd9", 1)
    assert "manifest.json: found extra field 0xd936" in forge.refusal(data)


def test_an_extra_field_that_is_cut_off(forge):
    data = bytearray(forge.written())
    start = data.index(b"\x35\xd9")
    data[start + 2] -= 2
    assert "extra field that is cut off" in forge.refusal(bytes(data))


@pytest.mark.parametrize("entry", [MANIFEST, GRAPH])
def test_damage_of_manifest_or_graph_is_found_by_checksum(forge, entry):
    content = forge.contents()[entry]
    data = forge.written().replace(content, content[:-1] + b" ")
    assert f"{entry}: found checksum 0x" in forge.refusal(data)


def test_damage_of_weights_is_found_when_asked_for(forge):
    data = bytearray(forge.written())
    data[data.index(b"PK\x01\x02") - 1] ^= 0x40
    _, _, weights = forge.read(bytes(data))
    with pytest.raises(FormatError, match=r"weights\.safetensors: weight 'mask': found checksum 0x"):
        weights.verify()
    forge.refusal(bytes(data), verify=True)


@pytest.mark.parametrize("opened", [om.load, om.Session])
def test_damaged_weights_are_not_loaded(tmp_path, monkeypatch, opened):
    path = tmp_path / "m.onemodel"
    weight = np.arange(64, dtype=np.float32)
    om.trace(lambda x: x + om.tensor(weight), om.zeros((64,))).save(path)
    data = bytearray(path.read_bytes())
    data[data.index(weight.tobytes()) + 99] ^= 4
    path.write_bytes(data)
    with pytest.raises(om.FormatError, match=r"m\.onemodel: weights\.safetensors: weight 'constant_0': found checksum .* damaged"):
        opened(path)
    om.load(path, verify=False)
    monkeypatch.setattr(onemodel_program, "VERIFIED_BYTES", 1)
    om.load(path)
    with pytest.raises(om.FormatError, match="checksum"):
        opened(path, verify=True)


def test_damage_of_the_weights_header_is_found_by_its_digest(forge):
    data = forge.written().replace(b'"0.bias"', b'"0.bIas"')
    assert "weights.safetensors: found a header with SHA-256" in forge.refusal(data)


def test_weights_of_another_file(forge):
    mine = forge.contents()
    forge.weights["0.bias"] = forge.weights["0.bias"][:2]
    mine[WEIGHTS] = forge.contents()[WEIGHTS]
    assert "damaged or those of another file" in forge.refusal(forge.archive(mine.items()))


def test_oversized_entries(forge, monkeypatch):
    from onemlir.dialect.onemodel import manifest, reader

    data = forge.written()
    monkeypatch.setattr(reader, "LARGEST_GRAPH", 10)
    assert "graph.mlir: found 60 bytes; expected at most 10" in forge.refusal(data)
    monkeypatch.setattr(manifest, "LARGEST", 20)
    assert "manifest.json: found" in forge.refusal(data)
    with pytest.raises(FormatError, match="a manifest of .* bytes; expected at most 20"):
        forge.written()


def test_a_large_directory_is_refused_before_it_is_read(forge):
    data = forge.archive([(f"entry{i}", b"") for i in range(1025)])
    assert "a directory of 1025 entries" in forge.refusal(data)


def test_records_have_the_sizes_of_the_specification():
    assert (size_of(Local), size_of(Central), size_of(End)) == (30, 46, 22)
