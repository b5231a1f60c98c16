import pytest
from mlir import ir


@pytest.fixture
def parse():
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        yield ir.Module.parse
