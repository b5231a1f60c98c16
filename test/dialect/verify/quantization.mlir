// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// A dtype that is no 8- or 16-bit integer.
func.func @main(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.dequantize_linear' op dequantize_linear: 'x' must have an 8-, 16- or 32-bit integer dtype, found float32}}
  %r = "om.dequantize_linear"(%x, %s) {axis = 1 : i64, block_size = 0 : i64} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// A scale per channel.
func.func @main(%x: tensor<2x3xi8>, %s: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.dequantize_linear' op dequantize_linear: scale has 2 elements but axis 1 of x (2, 3) has 3}}
  %r = "om.dequantize_linear"(%x, %s) {axis = 1 : i64, block_size = 0 : i64} : (tensor<2x3xi8>, tensor<2xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
