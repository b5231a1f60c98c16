"""The repository's root folder is the package: its sub-folders are found here, so that none is forgotten in a list."""
from setuptools import find_packages, setup

folders = find_packages(".", exclude=["test", "test.*", "docs", "docs.*"])
setup(package_dir={"onemlir": "."}, packages=["onemlir", *(f"onemlir.{name}" for name in folders)],
      package_data={"onemlir.runtime.ahead_of_time": ["*.c"], "onemlir.cli.digits": ["*.npz", "*.safetensors", "*.md"], "onemlir.cli.opt": ["*.txt"], "onemlir.cli.explore": ["*.css", "*.js"], "": ["py.typed", "*.pyi"]})
