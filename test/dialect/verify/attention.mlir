// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// query and key have vectors of one length.
func.func @main(%q: tensor<2x4x8xf32>, %k: tensor<2x5x6xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error @+1 {{'om.attention' op attention: query (2, 4, 8) and key (2, 5, 6) differ in width}}
  %r = "om.attention"(%q, %k, %v) {is_causal = false, scale = 1.0 : f64, enable_gqa = false} : (tensor<2x4x8xf32>, tensor<2x5x6xf32>, tensor<2x5x8xf32>) -> tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// -----

// A key for each value.
func.func @main(%q: tensor<2x4x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error @+1 {{'om.attention' op attention: key (2, 5, 8) and value (2, 6, 8) differ in length}}
  %r = "om.attention"(%q, %k, %v) {is_causal = false, scale = 1.0 : f64, enable_gqa = false} : (tensor<2x4x8xf32>, tensor<2x5x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}
