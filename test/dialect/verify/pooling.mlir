// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// The size of the result.
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  // expected-error @+1 {{'om.max_pool' op result 'result' must be f32[1, 3, 4, 4] but is written as tensor<1x3x8x8xf32>}}
  %r = "om.max_pool"(%x) {kernel_size = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// -----

// More window axes than x has.
func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'om.max_pool' op max_pool: a window over 2 axes does not fit x (8,)}}
  %r = "om.max_pool"(%x) {kernel_size = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : (tensor<8xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A window larger than x.
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x1x4xf32> {
  // expected-error @+1 {{'om.max_pool' op a window of 9 (dilation 1) does not fit into size 8 with padding 0 and 0}}
  %r = "om.max_pool"(%x) {kernel_size = array<i64: 9, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x4xf32>
  return %r : tensor<1x3x1x4xf32>
}
