"""`jit`, `grad`, `value_and_grad`: functions of tensors made into compiled functions, and into their gradients.

Arguments and results are tensors nested in containers; other arguments are constants, and a new value of them is compiled anew, as new
shapes and dtypes are. Tensors that the function finds elsewhere, such as the parameters of a module, are read at each call. Random
numbers are drawn at each call from the generator that `manual_seed` seeds, in the order in which eager ops would draw them.
"""
from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import numpy as np

from ..dialect import dtypes
from ..dialect.structure import flatten, rebuild
from ..errors import DTypeError, IndexRangeError, ShapeError, TraceError
from . import autograd, random
from .dispatch import current_recorder, differentiating
from .ops.declared import as_tensor, declared as ops
from .ops.shape import sizes
from .tensor import Tensor


def jit(function: Callable) -> Callable:
    """The function compiled: recorded at the first call with arguments of each kind, then run by a session.

    Losses, dropout and batch norm in training mode, `om.grad` and `optimizer.update` may be part of it; running statistics are changed
    after each call. Python code runs while recording alone. Called in a recording it is the function itself.
    """
    compiled = _Compiled(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs) if current_recorder() is not None else compiled(args, kwargs)
    return call


def value_and_grad(function: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable:
    """A function that gives ``(value, gradients)``: the value of `function`, one floating element, and its gradients.

    argnums: by which arguments; the gradients have their structure (a tuple of them for several). has_aux: the function gives
    ``(value, anything)``, and so does the first result. It is compiled as by `jit`; within a recording, of `jit` or `om.trace`, it becomes
    part of that, so that gradients of gradients and whole training steps are one graph. Raises ShapeError for a value of more elements,
    DTypeError for arguments that are not floating. Source: jax.value_and_grad.
    """
    def run(*args, **kwargs):
        return _differentiate(function, argnums, has_aux, args, kwargs)

    return functools.wraps(function)(jit(run))


def grad(function: Callable, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable:
    """A function that gives the gradients of `function` alone, or ``(gradients, anything)`` with has_aux; see `value_and_grad`."""
    both = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def call(*args, **kwargs):
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients
    return call


# Gradients within a recording.
def _differentiate(function, argnums, has_aux: bool, args: tuple, kwargs: dict):
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for number in chosen:
        if not -len(args) <= number < len(args):
            raise IndexRangeError(f"argnums names argument {number}, but the function is called with {len(args)} positional arguments")
    with differentiating() as nested, autograd.grad_mode(True):
        leaves: list[Tensor] = []
        arguments, structures = list(args), []
        for number in chosen:
            found: list = []
            structures.append(flatten(args[number], _is_array, found))
            starts = [_start(path, leaf, nested) for path, leaf in found]
            arguments[number] = rebuild(structures[-1], starts)
            leaves.append(starts)
        result = function(*arguments, **kwargs)
        value = result[0] if has_aux else result
        _check_value(value)
        flat = [t for starts in leaves for t in starts]
        found = autograd.gradients([value], flat, create_graph=nested) if value.requires_grad else [None] * len(flat)
        found = iter([_zeros(t) if g is None else g for g, t in zip(found, flat)])
        gradients = [rebuild(s, [next(found) for _ in starts]) for s, starts in zip(structures, leaves)]
    result = result if nested else _detached(result)
    return result, gradients[0] if isinstance(argnums, int) else tuple(gradients)


def _is_array(value) -> bool:
    return isinstance(value, (Tensor, np.ndarray))


def _start(path: str, leaf, nested: bool) -> Tensor:
    """An argument as a place of its own on the tape, connected with the argument when that is differentiated further out."""
    tensor = as_tensor(leaf)
    if not dtypes.is_floating(tensor.dtype):
        raise DTypeError(f"gradients are computed by floating tensors, found {tensor.dtype}{' at ' + repr(path) if path else ''}")
    if nested and tensor.requires_grad:
        return ops.reshape(tensor, shape=sizes(tensor))
    start = Tensor._recorded(current_recorder()._as_node(tensor), tensor._scope)
    start.requires_grad = True
    return start


def _check_value(value) -> None:
    if not isinstance(value, Tensor) or not dtypes.is_floating(value.dtype):
        raise DTypeError(f"the function must give one floating tensor, found {getattr(value, 'dtype', type(value).__name__)}")
    if any(s != 1 for s in value.shape):
        raise ShapeError(f"the function must give a value of one element, found shape {value.shape}: reduce it, for instance with sum()")


def _zeros(x: Tensor) -> Tensor:
    return ops.full(Tensor._wrap(np.zeros((), x.dtype)), shape=sizes(x))


def _detached(result):
    leaves: list = []
    structure = flatten(result, lambda v: isinstance(v, Tensor), leaves)
    return rebuild(structure, [Tensor._recorded(t._node, t._scope) if t._node is not None else t for _, t in leaves])


# Compiled functions.
class _Compiled:
    """Sessions of a function, by the structure, shapes and dtypes of its arguments."""

    def __init__(self, function: Callable):
        self.function = function
        self.programs: dict[Any, _Program] = {}

    def __call__(self, args: tuple, kwargs: dict):
        leaves: list = []
        structure = flatten((args, kwargs), _is_array, leaves)
        arrays = [leaf._array if isinstance(leaf, Tensor) else leaf for _, leaf in leaves]
        key = (_frozen(structure), tuple((a.shape, a.dtype) for a in arrays))
        program = self.programs.get(key)
        if program is None or not program.fits():
            program = self.programs[key] = _Program(self.function, structure, arrays)
        return program(arrays)


def _frozen(structure):
    """A structure as something that can be a key; constants that cannot by what they are."""
    if isinstance(structure, dict):
        return tuple((k, _frozen(v)) for k, v in structure.items())
    if isinstance(structure, list):
        return tuple(map(_frozen, structure))
    try:
        hash(structure)
        return type(structure), structure
    except TypeError:
        return type(structure), id(structure)


class _Program:
    """One recording of a function for training, with its session."""

    def __init__(self, function: Callable, structure, arrays: Sequence[np.ndarray]):
        from ..traced import TracedModel
        from .recording import recording
        from .training_recorder import TrainingRecorder

        recorder = TrainingRecorder()
        with recording(recorder):
            inputs = [recorder.add_input(f"input_{i}", array, None) for i, array in enumerate(arrays)]
            args, kwargs = rebuild(structure, inputs)
            result = function(*args, **kwargs)
            leaves: list = []
            self.structure = flatten(result, _is_array, leaves, static=_refuse_result)
            outputs = [as_tensor(t) for _, t in leaves] + [value for _, value in recorder.written.values()]
            program = recorder.finish([(f"output_{i}", t) for i, t in enumerate(outputs)])
        self.count, self.inputs = len(leaves), structure  # which keeps alive the constants that the key names by id
        self.captured, self.draws = list(recorder.captured), list(recorder.draws)
        self.types = [(t.shape, t.dtype) for t in self.captured]
        self.written = [tensor for tensor, _ in recorder.written.values()]
        self.order = recorder.order
        self.session = TracedModel(program).session()

    def fits(self) -> bool:
        """Whether the tensors that were found elsewhere still have their shapes and dtypes."""
        return all((t.shape, t.dtype) == type for t, type in zip(self.captured, self.types))

    def __call__(self, arrays: Sequence[np.ndarray]):
        generator, captured, draws = random.generator(), iter(self.captured), iter(self.draws)
        more = [next(draws)(generator) if kind == "draw" else next(captured)._array for kind in self.order]
        outputs = list(self.session.run(dict(zip(self.session._names, [*arrays, *more]))).values())
        for tensor, array in zip(self.written, outputs[self.count:]):
            tensor._array = array
            tensor._version += 1
        return rebuild(self.structure, [Tensor._wrap(a) for a in outputs[:self.count]])


def _refuse_result(path: str, value) -> None:
    if not isinstance(value, (bool, int, float, str)):
        raise TraceError(f"the function gave {type(value).__name__} at '{path or 'the top'}': results are tensors in tuples, lists, dicts")
