// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// The type of the value.
func.func @main() -> tensor<3xf32> {
  // expected-error @+1 {{'om.constant' op result 'result' must be f32[2] but is written as tensor<3xf32>}}
  %r = "om.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// As many elements as the shape says.
func.func @main(%x: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{'om.full' op result 'result' must be f32[3] but is written as tensor<4xf32>}}
  %r = "om.full"(%x) {shape = array<i64: 3>} : (tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// The size of the result.
func.func @main() -> tensor<4xi64> {
  // expected-error @+1 {{'om.iota' op result 'result' must be i64[3] but is written as tensor<4xi64>}}
  %r = "om.iota"() {size = array<i64: 3>, dtype = i64} : () -> tensor<4xi64>
  return %r : tensor<4xi64>
}
