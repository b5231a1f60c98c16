// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// keepdims keeps the axis.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'om.sum' op result 'result' must be f32[2, 1] but is written as tensor<2xf32>}}
  %r = "om.sum"(%x) {axis = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// An axis that x does not have.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'om.max' op axis 2 is out of range for a tensor of rank 2}}
  %r = "om.max"(%x) {axis = array<i64: 2>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// An axis twice.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'om.sum' op axes (1, 1) name an axis twice}}
  %r = "om.sum"(%x) {axis = array<i64: 1, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// all is of bool.
func.func @main(%x: tensor<3xf32>) -> tensor<i1> {
  // expected-error @+1 {{'om.all' op all: 'x' must have bool, found float32}}
  %r = "om.all"(%x) {axis = array<i64: 0>, keepdims = false} : (tensor<3xf32>) -> tensor<i1>
  return %r : tensor<i1>
}

// -----

// argmax gives i64.
func.func @main(%x: tensor<3xf32>) -> tensor<i32> {
  // expected-error @+1 {{'om.argmax' op result 'result' must be i64[] but is written as tensor<i32>}}
  %r = "om.argmax"(%x) {axis = 0 : i64, keepdims = false} : (tensor<3xf32>) -> tensor<i32>
  return %r : tensor<i32>
}

// -----

// The largest of no elements.
func.func @main(%x: tensor<0x3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.max' op max over axis 0, which is empty in shape (0, 3): there is no result}}
  %r = "om.max"(%x) {axis = array<i64: 0>, keepdims = false} : (tensor<0x3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
