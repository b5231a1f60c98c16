"""The pass: what it replaces, what it leaves alone, and the operations with rules of their own."""

import re

import numpy as np
import pytest

from onemlir.lowering.math import ULP

NATIVE = {"math.fma", "math.absf", "math.floor", "math.roundeven", "math.sqrt", "math.copysign"}
NAMES = sorted(name for name in ULP if "." in name and name != "math.sincos")


def unary(name, type_):
    operands = "%x, %x" if name in ("math.atan2", "math.powf") else "%x"
    return f"func.func @f(%x: {type_}) -> {type_} {{ %r = {name} {operands} : {type_} return %r : {type_} }}"


@pytest.mark.parametrize("type_", ["f32", "f64", "f16", "bf16", "vector<8xf32>", "vector<2x3xf64>", "vector<[4]xf32>"])
@pytest.mark.parametrize("name", NAMES)
def test_only_native_operations_remain(expanded_text, name, type_):
    text = expanded_text(unary(name, type_))
    assert set(re.findall(r"math\.\w+", text)) <= NATIVE
    assert "scf." not in text and "memref." not in text


@pytest.mark.parametrize("name", ["math.sqrt", "math.floor", "math.absf"])
def test_native_operations_stay(expanded_text, name):
    assert f"{name} %arg0 : f32" in expanded_text(unary(name, "f32"))


@pytest.mark.parametrize("type_", ["tensor<4xf32>", "f128"])
def test_other_types_stay(expanded_text, type_):
    assert "math.exp" in expanded_text(unary("math.exp", type_))


def test_locations_are_kept(expanded_text):
    from mlir.ir import Context, Module

    from onemlir.lowering.math import expand_math

    text = 'func.func @f(%x: f32) -> f32 { %r = math.exp %x : f32 loc("model.py":7:3) return %r : f32 }'
    module = Module.parse(text, Context())
    expand_math(module)
    operations = list(module.body.operations[0].regions[0].blocks[0].operations)[:-1]
    assert len(operations) > 15
    assert {str(op.location) for op in operations} == {'loc("model.py":7:3)'}


@pytest.mark.parametrize("exponent, operation", [(2.0, "arith.mulf"), (0.5, "math.sqrt"), (-1.0, "arith.divf"), (3.0, "arith.mulf")])
def test_constant_exponents_are_cheap(expanded_text, exponent, operation):
    text = expanded_text(
        f"func.func @f(%x: vector<4xf32>) -> vector<4xf32> {{ %c = arith.constant dense<{exponent}> : vector<4xf32>\n"
        "%r = math.powf %x, %c : vector<4xf32> return %r : vector<4xf32> }"
    )
    assert operation in text
    assert text.count("\n") < 14


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_exponents(compiled, dtype):
    x = np.array([0.0, -0.0, 1.0, 2.0, 3.7, -1.5, 1e-20, np.inf, -np.inf, np.nan], dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(compiled("square", x), x**2)
        np.testing.assert_allclose(compiled("root", x), np.power(x, np.full_like(x, 0.5)), rtol=np.finfo(dtype).eps)
        np.testing.assert_allclose(compiled("seventh", x), np.power(x, np.full_like(x, 7)), rtol=np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_integer_exponents(compiled, dtype):
    x = np.random.default_rng(0).uniform(-3, 3, 1000).astype(dtype)
    y = np.random.default_rng(1).integers(-30, 30, 1000).astype(dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(compiled("fpowi", x, y), np.power(x, y), rtol=2 * np.finfo(dtype).eps)


def test_integer_powers_wrap(compiled):
    base = np.array([0, 1, -1, 2, 3, -3, 7, 10, 46341, -5], np.int32)
    exponent = np.array([0, 1, 2, 3, 5, 13, 30, 31, 40, 2], np.int32)
    base, exponent = (grid.ravel().copy() for grid in np.meshgrid(base, exponent))
    np.testing.assert_array_equal(compiled("ipowi", base.astype(float), exponent.astype(float)), base**exponent)
    np.testing.assert_array_equal(compiled("ipowi5", base.astype(float)), base**5)


def test_negative_integer_powers(compiled):
    base = np.array([1, 1, -1, -1, 2, -7, 0], float)
    exponent = np.array([-1, -2, -1, -2, -1, -3, -1], float)
    np.testing.assert_array_equal(compiled("ipowi", base, exponent), [1, 1, -1, 1, 0, 0, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_give_the_scalars_bits(compiled, dtype):
    x = np.random.default_rng(3).normal(size=500).astype(dtype) * 3
    np.testing.assert_array_equal(compiled("vector", x), compiled("math.sin", compiled("math.tanh", x)))


def test_both_results_of_sincos(compiled):
    x = np.random.default_rng(4).normal(size=500) * 100
    np.testing.assert_array_equal(compiled("cosine", x), compiled("math.cos", x))
    np.testing.assert_array_equal(compiled("math.sincos", x), compiled("math.sin", x))


@pytest.mark.parametrize("name, lanes", [("exp", 16), ("log", 16), ("tanh", 16), ("erf", 16), ("sigmoid", 16), ("sin", 8)])
def test_loops_become_full_width_vectors(optimized_ir, name, lanes):
    body = re.search(rf"^define void @{name}\(.*?^}}", optimized_ir, re.DOTALL | re.MULTILINE).group()
    element = "float" if lanes == 16 else "double"
    assert f"@llvm.fma.v{lanes}f{512 // lanes}(<{lanes} x {element}>" in body
    assert set(re.findall(r"call [^@]*@(\S+?)[.(]", body)) == {"llvm"}
