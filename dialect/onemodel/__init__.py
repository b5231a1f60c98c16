"""The ``.onemodel`` file: one model, its IR as text and its weights, in a zip archive that can be mapped into memory.

Three stored (never compressed) entries, in this order, each starting at a multiple of 64 bytes::

    manifest.json         what the model takes and gives, who wrote it, which version of this format
    graph.mlir            the program, as text
    weights.safetensors   the arrays that its ``om.parameter`` operations name

Any zip tool can unpack it, and the safetensors library reads its weights. Nothing in the file is executed by `read`.
The same content always gives the same bytes. See `manifest` for the keys of the manifest, `archive_reader` for what a
file may not contain, and `reader` for what is checked when.
"""
from .manifest import FORMAT_VERSION
from .reader import Weights, read
from .writer import write

__all__ = ["FORMAT_VERSION", "Weights", "read", "write"]
