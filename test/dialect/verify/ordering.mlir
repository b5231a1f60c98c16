// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// More than there are.
func.func @main(%x: tensor<3xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  // expected-error @+1 {{'om.topk' op topk: k is 4 but axis 0 of x (3,) has 3 elements}}
  %r:2 = "om.topk"(%x) {k = array<i64: 4>, axis = 0 : i64, largest = true, sorted = true} : (tensor<3xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

// -----

// The type of x.
func.func @main(%x: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'om.sort' op result 'result' must be f32[3] but is written as tensor<4xf32>}}
  %r = "om.sort"(%x) {axis = 0 : i64, descending = false} : (tensor<3xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Places are i64.
func.func @main(%x: tensor<3xf32>) -> tensor<3xi32> {
  // expected-error @+1 {{'om.argsort' op result 'result' must be i64[3] but is written as tensor<3xi32>}}
  %r = "om.argsort"(%x) {axis = 0 : i64, descending = false} : (tensor<3xf32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}
