// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// Activations are of floats.
func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
  // expected-error @+1 {{'om.gelu' op gelu: 'x' must have a floating dtype, found int32}}
  %r = "om.gelu"(%x) {approximate = "none"} : (tensor<3xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// -----

// A word that is no choice.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.gelu' op 'approximate' must be one of 'none', 'tanh', found 'fast'}}
  %r = "om.gelu"(%x) {approximate = "fast"} : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// An axis that x does not have.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.softmax' op axis 2 is out of range for a tensor of rank 2}}
  %r = "om.softmax"(%x) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// The shape of x.
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{'om.softmax' op result 'result' must be f32[2, 3] but is written as tensor<3x2xf32>}}
  %r = "om.softmax"(%x) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// An attribute that there is not.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.relu' op has no attribute 'alpha'; it has none}}
  %r = "om.relu"(%x) {alpha = 1.0 : f64} : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
