"""From linalg on memrefs to loops: `om-linalg-to-loops`."""
from .emit import linalg_to_loops  # noqa: F401
