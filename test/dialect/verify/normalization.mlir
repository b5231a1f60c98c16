// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// Statistics have one element per channel.
func.func @main(%x: tensor<2x3x4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<2x3x4xf32> {
  // expected-error @+1 {{'om.batch_norm' op batch_norm: mean must have shape (3,), one for each channel of x (2, 3, 4); found (4,)}}
  %r = "om.batch_norm"(%x, %m, %v) {eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// -----

// Groups divide the channels.
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // expected-error @+1 {{'om.group_norm' op group_norm: 3 channels do not divide into 2 groups}}
  %r = "om.group_norm"(%x) {eps = 1.0e-5 : f64, num_groups = 2 : i64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// -----

// weight has the sizes of the last axes.
func.func @main(%x: tensor<2x3xf32>, %w: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.layer_norm' op layer_norm: weight must have shape (3,), the last axes of x (2, 3); found (2,)}}
  %r = "om.layer_norm"(%x, %w) {axes_count = 1 : i64, eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// More axes than x has.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.layer_norm' op layer_norm: axes_count 3 does not fit x of shape (2, 3)}}
  %r = "om.layer_norm"(%x) {axes_count = 3 : i64, eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
