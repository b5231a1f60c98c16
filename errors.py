"""Every error that onemlir raises on purpose. All derive from OnemlirError."""


class OnemlirError(Exception):
    """Base of all errors; catch this to catch every refusal of the library."""


class TraceError(OnemlirError):
    """The program does something that a recording cannot represent."""


class ShapeError(OnemlirError):
    """Sizes of tensors do not fit together, or an axis does not exist."""


class DTypeError(OnemlirError):
    """A dtype is not one that the operation or the input takes."""


class GuardError(OnemlirError):
    """A value that the recording depends on is another one in this run."""


class IndexRangeError(OnemlirError, IndexError):
    """An index tensor names an element that does not exist."""


class VerificationError(OnemlirError):
    """The IR breaks a rule of the dialect."""


class CompileError(OnemlirError):
    """A pass or the code generator failed."""


class FormatError(OnemlirError):
    """A file is damaged, truncated, tampered with, or from a newer version."""


class UnsupportedOpError(OnemlirError):
    """A model uses operations that cannot be read, lowered or written."""


class FrozenValueWarning(UserWarning):
    """A value of the example became a constant of the recording."""
