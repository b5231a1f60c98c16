// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// Operands share one dtype.
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf64>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.add' op add: 'y' is float64 but 'x' is float32}}
  %r = "om.add"(%x, %y) : (tensor<3xf32>, tensor<3xf64>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// Sizes that are neither equal nor 1.
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.multiply' op multiply: shapes (2, 3) and (2, 4) do not broadcast: 3 against 4}}
  %r = "om.multiply"(%x, %y) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// Only floats have a square root.
func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
  // expected-error @+1 {{'om.sqrt' op sqrt: 'x' must have a floating dtype, found int32}}
  %r = "om.sqrt"(%x) : (tensor<3xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// -----

// The result has the operands' dtype.
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf64> {
  // expected-error @+1 {{'om.subtract' op result 'result' must be f32[3] but is written as tensor<3xf64>}}
  %r = "om.subtract"(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf64>
  return %r : tensor<3xf64>
}

// -----

// A comparison gives bool.
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.less' op result 'result' must be i1[3] but is written as tensor<3xf32>}}
  %r = "om.less"(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// The broadcast shape, not that of an operand.
func.func @main(%x: tensor<1x3xf32>, %y: tensor<2x1xf32>) -> tensor<1x3xf32> {
  // expected-error @+1 {{'om.add' op result 'result' must be f32[2, 3] but is written as tensor<1x3xf32>}}
  %r = "om.add"(%x, %y) : (tensor<1x3xf32>, tensor<2x1xf32>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// -----

// A condition is bool.
func.func @main(%c: tensor<3xf32>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.where' op where: 'condition' must have bool, found float32}}
  %r = "om.where"(%c, %x, %y) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// Shifts are of integers.
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.left_shift' op left_shift: 'x' must have an integer dtype, found float32}}
  %r = "om.left_shift"(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// A bitcast keeps the width.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf64> {
  // expected-error @+1 {{'om.bitcast' op bitcast: float32 has 32 bits, which cannot be seen as float64}}
  %r = "om.bitcast"(%x) {dtype = f64} : (tensor<3xf32>) -> tensor<3xf64>
  return %r : tensor<3xf64>
}
