"""Where the tools are, whether or not the environment is activated."""
import pathlib
import sys

import pytest


@pytest.fixture(scope="session")
def tool():
    """`tool("onemlir-opt")`: the path of a command that is installed beside the interpreter."""
    return lambda name: str(pathlib.Path(sys.executable).parent / name)
