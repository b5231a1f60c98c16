import os
from onemlir.testing.lit_config import configure

configure(config, lit_config, name="swiglu", source_root=os.path.dirname(__file__))  # noqa: F821
