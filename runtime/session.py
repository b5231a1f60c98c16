"""`Session`: call compiled code with arrays. Needs numpy alone; how the code was made does not matter."""
from __future__ import annotations

import ctypes
import math
import os
import threading
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from .. import errors
from .arrays import address, as_input, READY, refusal_of_mapping, refuse_names
from .processors import default_threads
from .shapes import bind, output_shape
from .specs import Compiled, Message, OUT_OF_MEMORY, Spec

CONTEXT_WORDS = 16
PARALLEL_FOR, POOL, THREADS, MEMORY_LIMIT = 0, 1, 2, 5
STATUS_WORDS = 4
PLANS = 256  # shapes that are remembered
ADOPTED = 1 << 16  # bytes from which an output that compiled code has allocated is not copied
_NO_MEMORY = Message("OnemlirError", "not enough memory: the model needs {found} more bytes for its intermediate values with these shapes")


class Plan(NamedTuple):
    """What follows from the shapes of the inputs."""

    outputs: tuple
    """(shape, dtype) of each output, None where compiled code allocates it."""
    sizes: list[int]
    """The dynamic sizes, in the order of the table."""


class Session:
    """A compiled function of arrays. Safe to call from several threads at once.

    Args:
      compiled: The code.
      inputs: Description of each input, in the order of the compiled function's arguments.
      outputs: The same for the outputs.
      parameters: The weights, in order. They are read where they are, not copied, unless they are not contiguous.
      threads: How many threads one call may use; see `processors.default_threads` where not given.
      structure: Makes the return value of a positional call from the list of outputs; a bare array or a tuple unless given.
      checks: Called with the sizes of the axes by name when inputs of new shapes come, before anything runs; they raise.
    """

    allocate = staticmethod(np.empty)
    """Makes an output of a shape and dtype."""

    def __new__(cls, compiled=None, *_, **options):
        """`Session(path, threads=...)` loads a library that was compiled ahead of time."""
        if not isinstance(compiled, (str, os.PathLike)):
            return super().__new__(cls)
        from .library import load_library

        return load_library(compiled, **options)

    def __init__(self, compiled: Compiled, inputs: Sequence[Spec] = (), outputs: Sequence[Spec] = (),
                 parameters: Sequence[np.ndarray] = (), *, threads: int | None = None, structure: Callable[[list], Any] | None = None,
                 checks: Sequence[Callable[[dict], None]] = ()):  # fmt: skip
        if isinstance(compiled, (str, os.PathLike)):
            return  # made by `__new__`
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.threads = checked_threads(threads) or default_threads()
        self._compiled = compiled
        self._parameters = [np.require(p, requirements=["C", "A"]) for p in parameters]
        self._checks = tuple(checks)
        self._structure = structure or (lambda values: values[0] if len(values) == 1 else tuple(values))
        self._dtypes = [spec.dtype for spec in self.inputs]
        self._names = [spec.name for spec in self.inputs]
        self._output_names = [spec.name for spec in self.outputs]
        self._entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(compiled.entry)
        self._plans: dict[tuple, Plan] = {}
        self._local = threading.local()
        self._pool = self._make_pool()
        self._allocated = [i for i, spec in enumerate(self.outputs) if spec.data_dependent]

    def __repr__(self) -> str:
        return f"Session(inputs={list(self.inputs)}, outputs={list(self.outputs)}, threads={self.threads})"

    def __call__(self, *arrays, **named) -> Any:
        """Run on inputs in order, or by name as keywords; gives back what the recorded function returned."""
        if named:
            arrays = self._ordered(dict(zip(self._names, arrays)), named, len(arrays))
        elif len(arrays) != len(self._dtypes):
            raise errors.ShapeError(f"the model takes {len(self._dtypes)} inputs ({', '.join(self._names)}), not {len(arrays)}"
                                    f"{refusal_of_mapping(arrays)}")
        return self._structure(self._run(arrays))

    def _ordered(self, given: dict, named: dict, count: int) -> list:
        """Positional and keyword inputs in order. OnemlirError for one that is given twice, missing or unknown."""
        twice = [repr(name) for name in named if name in given]
        if twice or count > len(self._names):
            raise errors.OnemlirError(f"the model takes {', '.join(self._names)}; {', '.join(twice)} is given twice" if twice else
                                      f"the model takes {len(self._names)} inputs ({', '.join(self._names)}), not {count + len(named)}")
        given |= named
        if given.keys() != set(self._names):
            refuse_names(self._names, given)
        return [given[name] for name in self._names]

    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Run on inputs by name; gives the outputs by name, in order. OnemlirError for names that are not the model's."""
        if not hasattr(inputs, "keys"):
            example = ", ".join(f"{name!r}: ..." for name in self._names)
            raise errors.OnemlirError(f"run takes a mapping of arrays by name, run({{{example}}}), found "
                                      f"{type(inputs).__name__}; call the session itself to give arrays in order")
        try:
            arrays = [inputs[name] for name in self._names]
        except KeyError:
            arrays = ()
        if len(arrays) != len(inputs) or len(arrays) != len(self._names):
            refuse_names(self._names, inputs)
        return dict(zip(self._output_names, self._run(arrays)))

    def _run(self, values: Sequence[Any]) -> list[np.ndarray]:
        try:
            state = self._local.state
        except AttributeError:
            state = self._local.state = ThreadState(self)
        arrays, shapes = [], []
        for value, dtype in zip(values, self._dtypes):
            if type(value) is not np.ndarray or value.dtype is not dtype or value.flags.num & READY != READY:
                value = as_input(self.inputs[len(arrays)], value)
            arrays.append(value)
            shapes.append(value.shape)
        key = tuple(shapes)
        plan = self._plans.get(key) or self._make_plan(key)
        results = [self.allocate(*described) if described else None for described in plan.outputs]
        table = state.table
        if state.plan is not plan:
            table[state.first_size : state.status] = plan.sizes
            state.plan = plan
        position = 0
        for array in arrays:
            table[position] = address(array)
            position += 1
        position = state.first_output
        for array in results:
            if array is not None:
                table[position] = address(array)
            position += 1
        if self._entry(state.address):
            self._fail(state)
        if self._allocated:
            self._take_allocated(state, results)
        return results

    def _make_plan(self, shapes: tuple) -> Plan:
        sizes = bind(self.inputs, shapes)
        for check in self._checks:
            check(sizes)
        outputs = [None if spec.data_dependent else (output_shape(spec, sizes), spec.dtype) for spec in self.outputs]
        dynamic = [n for spec, shape in zip(self.inputs, shapes) for size, n in zip(spec.sizes, shape) if not isinstance(size, int)]
        for spec, described in zip(self.outputs, outputs):
            shape = described[0] if described else [0] * len(spec.sizes)
            dynamic += [n for size, n in zip(spec.sizes, shape) if not isinstance(size, int)]
        if len(self._plans) >= PLANS:
            self._plans.clear()
        plan = self._plans[shapes] = Plan(tuple(outputs), dynamic)
        return plan

    def _fail(self, state: "ThreadState") -> None:
        code, found, expected, index = state.table[state.status : state.status + STATUS_WORDS]
        state.table[state.status : state.status + STATUS_WORDS] = [0] * STATUS_WORDS
        for position in self._allocated:
            self._free(state, position)
        message = self._compiled.messages.get(code) or (_NO_MEMORY if code == OUT_OF_MEMORY else Message("OnemlirError", f"status {code}"))
        raise getattr(errors, message.error)(message.format(found, expected, index))

    def _take_allocated(self, state: "ThreadState", results: list) -> None:
        """What compiled code has allocated: a copy of little, the memory itself as an array's where it is much."""
        slot = state.first_size + self._sizes_before_outputs()
        for position, spec in enumerate(self.outputs):
            dynamic = sum(not isinstance(size, int) for size in spec.sizes)
            if spec.data_dependent:
                found = iter(state.table[slot : slot + dynamic])
                shape = tuple(size if isinstance(size, int) else next(found) for size in spec.sizes)
                results[position] = self._taken(state, position, shape, spec.dtype)
            slot += dynamic
        state.plan = None

    def _taken(self, state: "ThreadState", position: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        size, slot = math.prod(shape) * dtype.itemsize, state.first_output + position
        if size >= ADOPTED:
            memory = AllocatedMemory(state.table[slot], size, state.free, self._compiled)
            state.table[slot] = 0
            return np.asarray(memory).view(dtype).reshape(shape)
        array = np.empty(shape, dtype)
        ctypes.memmove(address(array), state.table[slot], array.nbytes)
        self._free(state, position)
        return array

    def _sizes_before_outputs(self) -> int:
        return sum(not isinstance(size, int) for spec in self.inputs for size in spec.sizes)

    def _free(self, state: "ThreadState", position: int) -> None:
        slot = state.first_output + position
        if state.table[slot]:
            state.free(state.table[slot])
            state.table[slot] = 0

    def _make_pool(self):
        """The handle that `parallel_for` takes: the state of the process's pool, and the threads of this session."""
        if self._compiled.pool is None:
            return None
        self._parallel_for, state = self._compiled.pool()
        return (ctypes.c_int64 * 2)(state, self.threads)


class AllocatedMemory:
    """Memory that compiled code has allocated, as bytes for numpy; given back with the last array of it."""

    def __init__(self, pointer: int, size: int, free, keep):
        self._pointer, self._free, self._keep = pointer, free, keep
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (size,), "data": (pointer, False)}

    def __del__(self):
        self._free(self._pointer)


class ThreadState:
    """The table, the runtime context and with it the arena of one thread of the caller."""

    def __init__(self, session: Session):
        compiled = session._compiled
        self.plan: Plan | None = None
        self._keep = compiled
        self._release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(compiled.release)
        self.free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(compiled.free)
        self.context = _context(session)
        self._context_address = ctypes.addressof(self.context)
        self._fill(session)

    def _fill(self, session: Session) -> None:
        specs = (*session.inputs, *session.outputs)
        dynamic = sum(not isinstance(size, int) for spec in specs for size in spec.sizes)
        inputs, parameters = len(session.inputs), session._parameters
        self.first_output = inputs + len(parameters)
        context_slot = self.first_output + len(session.outputs)
        self.first_size = context_slot + 1
        self.status = self.first_size + dynamic
        self.table = (ctypes.c_int64 * (self.status + STATUS_WORDS))()
        self.table[inputs : self.first_output] = [address(p) for p in parameters]
        self.table[context_slot] = ctypes.addressof(self.context)
        self.address = ctypes.addressof(self.table)

    def __del__(self):
        if hasattr(self, "_context_address"):
            self._release(self._context_address)


def _context(session: Session):
    context = (ctypes.c_int64 * CONTEXT_WORDS)()
    context[THREADS] = session.threads
    context[MEMORY_LIMIT] = _physical_memory()
    if session._pool is not None:
        context[PARALLEL_FOR] = session._parallel_for
        context[POOL] = ctypes.addressof(session._pool)
    return context


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 1 << 62


def checked_threads(threads: int | None) -> int | None:
    """A number of threads, None for as many as there are processors. OnemlirError for what is no positive int."""
    if threads is None:
        return None
    if isinstance(threads, bool) or not hasattr(threads, "__index__") or threads.__index__() < 1:
        raise errors.OnemlirError(f"threads must be a positive int, or None for all processors, found {threads!r}")
    return threads.__index__()
