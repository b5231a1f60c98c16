"""From loops to the LLVM dialect (`to_llvm`), and on to text of LLVM IR and assembly."""
from .assembly import assembly, llvm_ir  # noqa: F401
from .entry import Signature  # noqa: F401
from .pipeline import PASSES, to_llvm  # noqa: F401
