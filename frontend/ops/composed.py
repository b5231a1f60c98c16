"""The functions of all families that are composed of ops, gathered for `onemlir.ops`."""
from .creation import *  # noqa: F401,F403
from .shape import *  # noqa: F401,F403
from .elementwise import *  # noqa: F401,F403
from .activation import *  # noqa: F401,F403
from .linear_algebra import *  # noqa: F401,F403
from .normalization import *  # noqa: F401,F403
from .reduction import *  # noqa: F401,F403
from .recurrent import *  # noqa: F401,F403
from .attention import *  # noqa: F401,F403
from .random import *  # noqa: F401,F403
from .control_flow import *  # noqa: F401,F403
from .convolution import *  # noqa: F401,F403
from .joining import *  # noqa: F401,F403
from .pooling import *  # noqa: F401,F403
from .repeating import *  # noqa: F401,F403
from .space_depth import *  # noqa: F401,F403
