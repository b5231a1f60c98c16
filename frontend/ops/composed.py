"""The functions of all families that are composed of ops, gathered for `onemlir.ops`."""
from .creation import *  # noqa: F401,F403
from .shape import *  # noqa: F401,F403
