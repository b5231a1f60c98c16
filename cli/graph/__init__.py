"""The graph of a model as a picture: `onemlir show --graph model.svg`, and on the page of `onemlir explore`."""
from .model_graph import Graph, graph_of  # noqa: F401
from .svg import svg  # noqa: F401
