"""The thread pool: one a process, generated through the LLVM dialect like everything else (`source`)."""
from .library import pool_functions  # noqa: F401
