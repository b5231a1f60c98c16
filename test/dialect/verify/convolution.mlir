// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// Channels of x and weight.
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error @+1 {{'om.conv' op conv: x (1, 3, 8, 8) has 3 channels but weight (4, 2, 3, 3) with 1 groups takes 2}}
  %r = "om.conv"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %r : tensor<1x4x6x6xf32>
}

// -----

// The spatial sizes of the result.
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  // expected-error @+1 {{'om.conv' op result 'result' must be f32[1, 4, 6, 6] but is written as tensor<1x4x8x8xf32>}}
  %r = "om.conv"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %r : tensor<1x4x8x8xf32>
}

// -----

// Groups divide the channels.
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error @+1 {{'om.conv' op conv: x (1, 3, 8, 8) has 3 channels but weight (4, 1, 3, 3) with 2 groups takes 2}}
  %r = "om.conv"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x3x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %r : tensor<1x4x6x6xf32>
}

// -----

// A stride per spatial axis.
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error @+1 {{'om.conv' op 'stride' must be one number or 2, found (1, 1, 1)}}
  %r = "om.conv"(%x, %w) {stride = array<i64: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %r : tensor<1x4x6x6xf32>
}

// -----

// A stride of 0 never ends.
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error @+1 {{'om.conv' op conv: 'stride' must be at least 1 on each axis, found (0, 1)}}
  %r = "om.conv"(%x, %w) {stride = array<i64: 0, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %r : tensor<1x4x6x6xf32>
}

// -----

func.func @main(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x3x3xi8>, %p: tensor<3xi8>) -> tensor<1x4x6x6xi32> {
  // expected-error @+1 {{'om.conv_integer' op conv_integer: weight_zero_point must be one number or one for each of the 4 filters, found shape (3,)}}
  %r = "om.conv_integer"(%x, %w, %p) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>} : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<3xi8>) -> tensor<1x4x6x6xi32>
  return %r : tensor<1x4x6x6xi32>
}
