"""The repository's root folder is the package: its sub-folders are found here, so that none is forgotten in a list."""
import pathlib

from setuptools import find_packages, setup

FILES = {"onemlir.runtime.ahead_of_time": ["*.c"], "onemlir.cli.digits": ["*.npz", "*.safetensors", "*.md"], "onemlir.cli.opt": ["*.txt"],
         "onemlir.cli.explore": ["*.css", "*.js"], "": ["py.typed", "*.pyi"]}  # fmt: skip
folders = find_packages(".", exclude=["test", "test.*", "docs", "docs.*"])
pathlib.Path("build").mkdir(exist_ok=True)
setup(package_dir={"onemlir": "."}, packages=["onemlir", *(f"onemlir.{name}" for name in folders)], package_data=FILES,
      options={"egg_info": {"egg_base": "build"}})  # in the root folder Python would take an old one for what is installed
