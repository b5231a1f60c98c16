"""The compile cache of these tests is a folder of their own."""
import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("ONEMLIR_CACHE", str(tmp_path_factory.getbasetemp() / "compile-cache"))
