// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// As many elements as before.
func.func @main(%x: tensor<2x3xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{'om.reshape' op reshape: (2, 3) has 6 elements, (4, 2) has 8}}
  %r = "om.reshape"(%x) {shape = array<i64: 4, 2>} : (tensor<2x3xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// An axis twice.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{'om.transpose' op 'axes' must order each of the 2 axes once, found (0, 0)}}
  %r = "om.transpose"(%x) {axes = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// One place per axis.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'om.transpose' op 'axes' must order each of the 2 axes once, found (0,)}}
  %r = "om.transpose"(%x) {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// Only axes of size 1 are repeated.
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{'om.broadcast_to' op broadcast_to: shapes (4, 3) and (4, 6) do not broadcast: 3 against 6}}
  %r = "om.broadcast_to"(%x) {shape = array<i64: 4, 6>} : (tensor<4x3xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

// Elements behind the end.
func.func @main(%x: tensor<5xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.slice' op slice: axis 0 of size 5 has no elements 1 to 5}}
  %r = "om.slice"(%x) {starts = array<i64: 1>, shape = array<i64: 3>, steps = array<i64: 2>} : (tensor<5xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// low and high have an entry per axis.
func.func @main(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{'om.pad_constant' op pad_constant: low and high must have 2 entries for x (2, 3), found 1 and 2}}
  %r = "om.pad_constant"(%x, %v) {low = array<i64: 1>, high = array<i64: 0, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// -----

// The value is one element.
func.func @main(%x: tensor<2xf32>, %v: tensor<1xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'om.pad_constant' op pad_constant: the value must have rank 0, found shape (1,)}}
  %r = "om.pad_constant"(%x, %v) {low = array<i64: 1>, high = array<i64: 0>} : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// A mode that there is not.
func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'operandSegmentSizes' attribute for specifying operand segments must have 3 elements, but got 2}}
  %r = "om.pad"(%x) {low = array<i64: 1>, high = array<i64: 1>, mode = "mirror", operandSegmentSizes = array<i32: 1, 0>} : (tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<2x3xf32>) -> tensor<1x2x3xf32> {
  // expected-error @below {{'om.broadcast_to' op attribute 'shape' must be array<i64: ...>}}
  %0 = "om.broadcast_to"(%x) {shape = array<ui8: 1, 2, 3>} : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return %0 : tensor<1x2x3xf32>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xi64> {
  // expected-error @below {{'om.cast' op attribute 'dtype' must be one of i1, f16, bf16, f32, f64,}}
  %0 = "om.cast"(%x) {dtype = complex<f32>} : (tensor<2xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{'om.sort' op attribute 'axis' must be written as 1, found -1}}
  %0 = "om.sort"(%x) {axis = -1 : i64, descending = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @main(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{'om.reshape' op its attributes name 1 sizes that are operands, but it has 0 index operands}}
  %0 = "om.reshape"(%x) {shape = array<i64: -1, 3>} : (tensor<6xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{'om.dim' op 'axis' is 1, but the operand has 1 axes}}
  %n = "om.dim"(%x) {axis = 1 : i64} : (tensor<6xf32>) -> index
  return %x : tensor<6xf32>
}
