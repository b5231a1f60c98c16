"""The folder of these tests is on the path: its modules are also run as programs."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
