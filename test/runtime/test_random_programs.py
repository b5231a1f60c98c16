"""Random programs of shared buffers, loops and branches against numpy: bufferization and the memory plan never mix values up."""
import random

import numpy as np
import pytest

from onemlir.dialect.symbolic import Dim
from onemlir.runtime import Spec

F32 = np.float32
N = Dim.symbol("n")
TYPES = {"s": "tensor<3x4xf32>", "d": "tensor<?x4xf32>"}
ID = "affine_map<(i, j) -> (i, j)>"


class Program:
    """Text and numpy meaning, built side by side. Values are named by number; empties and fills are shared on purpose."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.count = 0
        self.kind = self.random.choice("sd")
        self.type = TYPES[self.kind]

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def binary(self, env, out: str | None = None):
        """An elementwise op of two values, sometimes written over a third one whose old values it also uses."""
        (a, _), (b, _) = self.random.choice(env), self.random.choice(env)
        result = self.name()
        kind = self.random.choice(["add", "sub", "accumulate"])
        if kind == "accumulate":
            c, z = self.random.choice(env)
            body, value = "%t = arith.addf %p, %q : f32\n %r = arith.subf %o, %t : f32", lambda v: v[c] - (v[a] + v[b])
            start = c
        else:
            op = {"add": "arith.addf", "sub": "arith.subf"}[kind]
            body, start = f"%r = {op} %p, %q : f32", self.empty
            value = (lambda v: v[a] + v[b]) if kind == "add" else (lambda v: v[a] - v[b])
        text = (f"{result} = linalg.generic {{indexing_maps = [{ID}, {ID}, {ID}], iterator_types = [\"parallel\", \"parallel\"]}} "
                f"ins({a}, {b} : {self.type}, {self.type}) outs({start} : {self.type}) {{\n ^bb0(%p: f32, %q: f32, %o: f32):\n {body}\n"
                f" linalg.yield %r : f32 }} -> {self.type}\n")  # fmt: skip
        return text, result, value

    def insert(self, env):
        a, _ = self.random.choice(env)
        result = self.name()
        text = f"{result} = tensor.insert %f into {a}[%c0, %c1] : {self.type}\n"

        def value(v):
            array = v[a].copy()
            array[0, 1] = 7
            return array

        return text, result, value

    def block(self, env, length: int, depth: int):
        """Text of some ops and a function that adds their values to a dict."""
        texts, steps = [], []
        for _ in range(length):
            choice = self.random.random()
            if choice < 0.12 and depth < 2:
                text, names, step = self.loop(env, depth)
            elif choice < 0.24 and depth < 2:
                text, names, step = self.branch(env, depth)
            else:
                text, result, value = self.insert(env) if choice < 0.4 else self.binary(env)
                names = [result]

                def step(v, result=result, value=value):
                    v[result] = value(v)

            texts.append(text)
            steps.append(step)
            env = env + [(n, None) for n in names]
        return "".join(texts), env, lambda v: [step(v) for step in steps] and None

    def loop(self, env, depth):
        carried = [self.random.choice(env)[0] for _ in range(self.random.randint(1, 3))]
        inside = [self.name() for _ in carried]
        text, inner, run = self.block(env + [(n, None) for n in inside], self.random.randint(1, 3), depth + 1)
        yielded = [self.random.choice(inner)[0] for _ in carried]
        result, types = self.name(), ", ".join([self.type] * len(carried))
        pairs = ", ".join(f"{i} = {c}" for i, c in zip(inside, carried))
        whole = (f"{result}:{len(carried)} = scf.for %i{self.count} = %c0 to %c3 step %c1 iter_args({pairs}) -> ({types}) {{\n{text}"
                 f"scf.yield {', '.join(yielded)} : {types}\n}}\n")  # fmt: skip
        names = [f"{result}#{k}" for k in range(len(carried))] if len(carried) > 1 else [result]

        def step(v):
            state = [v[c] for c in carried]
            for _ in range(3):
                v.update(zip(inside, state))
                run(v)
                state = [v[y] for y in yielded]
            v.update(zip(names, state))

        return whole, names, step

    def branch(self, env, depth):
        first, env1, run1 = self.block(env, self.random.randint(0, 2), depth + 1)
        second, env2, run2 = self.block(env, self.random.randint(0, 2), depth + 1)
        a, b = self.random.choice(env1)[0], self.random.choice(env2)[0]
        result = self.name()
        text = (f"{result} = scf.if %cond -> {self.type} {{\n{first}scf.yield {a} : {self.type}\n}} else {{\n"
                f"{second}scf.yield {b} : {self.type}\n}}\n")  # fmt: skip

        def step(v):
            (run1 if v["%cond"] else run2)(v)
            v[result] = v[a] if v["%cond"] else v[b]

        return text, [result], step

    def build(self):
        self.empty = "%e"
        size = "%n" if self.kind == "d" else ""
        head = f"""%c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c3 = arith.constant 3 : index
          %f = arith.constant 7.0 : f32
          %zero = arith.constant 0.0 : f32
          %cond = tensor.extract %flag[] : tensor<i1>
          %n = tensor.dim %x, %c0 : {self.type}
          %e = tensor.empty({size}) : {self.type}
          %z = linalg.fill ins(%zero : f32) outs(%e : {self.type}) -> {self.type}
          """
        env = [("%x", None), ("%y", None), ("%z", None)]
        body, env, run = self.block(env, self.random.randint(2, 8), 0)
        outputs = [self.random.choice(env)[0] for _ in range(self.random.randint(1, 4))]
        types = ", ".join([self.type] * len(outputs))
        text = (f"func.func @main(%x: {self.type}, %y: {self.type}, %flag: tensor<i1>) -> ({types}) {{\n"
                f"{head}{body}return {', '.join(outputs)} : {types} }}")  # fmt: skip

        def meaning(x, y, flag):
            v = {"%x": x, "%y": y, "%z": np.zeros_like(x), "%cond": flag}
            run(v)
            return [v[o] for o in outputs]

        return text, meaning, len(outputs)


def check(build, seed: int) -> None:
    program = Program(seed)
    text, meaning, outputs = program.build()
    rows = 3 if program.kind == "s" else N
    y = np.random.default_rng(seed).integers(-9, 9, (3, 4)).astype(F32)
    session = build(text, [Spec("x", (rows, 4), F32), Spec("y", (rows, 4), F32), Spec("flag", (), bool)],
                    [Spec(f"o{i}", (rows, 4), F32) for i in range(outputs)])  # fmt: skip
    x = np.random.default_rng(seed + 1).integers(-9, 9, (3, 4)).astype(F32)
    for flag in (False, True):
        before = x.copy(), y.copy()
        got = session.run({"x": x, "y": y, "flag": np.array(flag)})
        for found, expected in zip(got.values(), meaning(x, y, flag)):
            np.testing.assert_array_equal(found, expected, err_msg=text)
        np.testing.assert_array_equal(x, before[0])
        np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("seed", range(40))
def test_random_program(build, seed):
    check(build, seed)
