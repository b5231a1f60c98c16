// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @sum(
// CHECK-NEXT: %0 = "om.sum"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
func.func @sum(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.sum"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @prod(
// CHECK-NEXT: %0 = "om.prod"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
func.func @prod(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.prod"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @max(
// CHECK-NEXT: %0 = "om.max"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
func.func @max(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.max"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @min(
// CHECK-NEXT: %0 = "om.min"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
func.func @min(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.min"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @any(
// CHECK-NEXT: %0 = "om.any"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xi1>) -> tensor<i1>
func.func @any(%arg0: tensor<2x3xi1>) -> tensor<i1> {
  %0 = "om.any"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xi1>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: func.func @all(
// CHECK-NEXT: %0 = "om.all"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xi1>) -> tensor<i1>
func.func @all(%arg0: tensor<2x3xi1>) -> tensor<i1> {
  %0 = "om.all"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xi1>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: func.func @argmax(
// CHECK-NEXT: %0 = "om.argmax"(%arg0) {axis = 1 : i64, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xi64>
func.func @argmax(%arg0: tensor<2x3xf32>) -> tensor<2xi64> {
  %0 = "om.argmax"(%arg0) {axis = 1 : i64, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @argmin(
// CHECK-NEXT: %0 = "om.argmin"(%arg0) {axis = 1 : i64, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xi64>
func.func @argmin(%arg0: tensor<2x3xf32>) -> tensor<2xi64> {
  %0 = "om.argmin"(%arg0) {axis = 1 : i64, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @mean(
// CHECK-NEXT: %0 = "om.mean"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
func.func @mean(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.mean"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @var(
// CHECK-NEXT: %0 = "om.var"(%arg0) {axis = array<i64: 0, 1>, correction = 0.000000e+00 : f64, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
func.func @var(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.var"(%arg0) {axis = array<i64: 0, 1>, correction = 0.000000e+00 : f64, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @std(
// CHECK-NEXT: %0 = "om.std"(%arg0) {axis = array<i64: 0, 1>, correction = 0.000000e+00 : f64, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
func.func @std(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.std"(%arg0) {axis = array<i64: 0, 1>, correction = 0.000000e+00 : f64, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @logsumexp(
// CHECK-NEXT: %0 = "om.logsumexp"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
func.func @logsumexp(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.logsumexp"(%arg0) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @norm(
// CHECK-NEXT: %0 = "om.norm"(%arg0) {axis = array<i64: 0, 1>, keepdims = false, ord = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<f32>
func.func @norm(%arg0: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "om.norm"(%arg0) {axis = array<i64: 0, 1>, keepdims = false, ord = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @cumsum(
// CHECK-NEXT: %0 = "om.cumsum"(%arg0) {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @cumsum(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.cumsum"(%arg0) {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cumprod(
// CHECK-NEXT: %0 = "om.cumprod"(%arg0) {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @cumprod(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.cumprod"(%arg0) {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
