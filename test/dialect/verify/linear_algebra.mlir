// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// The inner sizes.
func.func @main(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{'om.matmul' op matmul: x (2, 3) has 3 columns but y (4, 5) has 4 rows}}
  %r = "om.matmul"(%x, %y) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// -----

// Batch axes broadcast.
func.func @main(%x: tensor<2x3x4xf32>, %y: tensor<5x4x6xf32>) -> tensor<2x3x6xf32> {
  // expected-error @+1 {{'om.matmul' op matmul: batch axes (2,) and (5,) do not broadcast: 2 against 5}}
  %r = "om.matmul"(%x, %y) : (tensor<2x3x4xf32>, tensor<5x4x6xf32>) -> tensor<2x3x6xf32>
  return %r : tensor<2x3x6xf32>
}

// -----

// A scalar is no matrix.
func.func @main(%x: tensor<f32>, %y: tensor<4x5xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{'om.matmul' op matmul takes no rank-0 operand; use multiply}}
  %r = "om.matmul"(%x, %y) : (tensor<f32>, tensor<4x5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// weight is (out, in).
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{'om.linear' op linear: x (2, 3) has 3 features but weight (3, 4) takes 4}}
  %r = "om.linear"(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// The result is (n, m).
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) -> tensor<5x2xf32> {
  // expected-error @+1 {{'om.matmul' op result 'result' must be f32[2, 5] but is written as tensor<5x2xf32>}}
  %r = "om.matmul"(%x, %y) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}
