// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// Indices are i32 or i64.
func.func @main(%x: tensor<4x3xf32>, %i: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.gather' op gather: 'indices' must have i32 or i64, found float32}}
  %r = "om.gather"(%x, %i) {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// The indices' shape takes the axis' place.
func.func @main(%x: tensor<4x3xf32>, %i: tensor<2xi64>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.gather' op result 'result' must be f32[4, 2] but is written as tensor<2x3xf32>}}
  %r = "om.gather"(%x, %i) {axis = 1 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// Tuples longer than x has axes.
func.func @main(%x: tensor<4x3xf32>, %i: tensor<2x3xi64>) -> tensor<2xf32> {
  // expected-error @+1 {{'om.gather_nd' op gather_nd: tuples of 3 indices after 0 batch axes do not fit x (4, 3) and indices (2, 3)}}
  %r = "om.gather_nd"(%x, %i) {batch_dims = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xi64>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// Ranks of x and indices.
func.func @main(%x: tensor<4x3xf32>, %i: tensor<2xi64>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.take_along_axis' op take_along_axis: indices (2,) must have the rank of x (4, 3)}}
  %r = "om.take_along_axis"(%x, %i) {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// A reduction that there is not.
func.func @main(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'om.scatter_nd' op 'reduction' must be one of 'none', 'add', 'mul', 'max', 'min', found 'xor'}}
  %r = "om.scatter_nd"(%x, %i, %u) {reduction = "xor"} : (tensor<4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
