"""Every op of the dialect stands in one of the files of this folder."""
import pathlib
import re

from onemlir.dialect import ops  # noqa: F401
from onemlir.dialect.declare import REGISTRY

FOLDER = pathlib.Path(__file__).parent


def test_every_op_is_printed_and_parsed():
    text = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.mlir"))
    expected = {op.upstream or name for name, op in REGISTRY.items() if op.namespace == "om"}
    assert expected - set(re.findall(r'"?([a-z]+\.[a-z_0-9]+)"?', text)) == set()
