"""`onemlir.nn`: modules with torch's names, arguments and default initialisation."""
from .module import Module, Parameter  # noqa: F401
from .container import Sequential  # noqa: F401
from .linear import Linear  # noqa: F401
from .activation import GELU, ReLU, Sigmoid, Softmax  # noqa: F401
