"""lit configuration of this repository's IR tests; `lit test` runs them."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

from onemlir.testing.lit_config import configure  # noqa: E402

configure(config, lit_config, name="onemlir", source_root=os.path.dirname(__file__))  # noqa: F821  lit provides both names
