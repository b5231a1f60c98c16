// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @sort(
// CHECK-NEXT: %0 = "om.sort"(%arg0) {axis = 1 : i64, descending = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sort(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.sort"(%arg0) {axis = 1 : i64, descending = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @argsort(
// CHECK-NEXT: %0 = "om.argsort"(%arg0) {axis = 1 : i64, descending = false} : (tensor<2x3xf32>) -> tensor<2x3xi64>
func.func @argsort(%arg0: tensor<2x3xf32>) -> tensor<2x3xi64> {
  %0 = "om.argsort"(%arg0) {axis = 1 : i64, descending = false} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @topk(
// CHECK-NEXT: %0:2 = "om.topk"(%arg0) {axis = 1 : i64, k = array<i64: 1>, largest = true, sorted = true} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
func.func @topk(%arg0: tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>) {
  %0:2 = "om.topk"(%arg0) {axis = 1 : i64, k = array<i64: 1>, largest = true, sorted = true} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  return %0#0, %0#1 : tensor<2x1xf32>, tensor<2x1xi64>
}

// CHECK-LABEL: func.func @nonzero(
// CHECK-NEXT: %0 = "om.nonzero"(%arg0) : (tensor<2x3xf32>) -> tensor<2x?xi64>
func.func @nonzero(%arg0: tensor<2x3xf32>) -> tensor<2x?xi64> {
  %0 = "om.nonzero"(%arg0) : (tensor<2x3xf32>) -> tensor<2x?xi64>
  return %0 : tensor<2x?xi64>
}

// CHECK-LABEL: func.func @unique(
// CHECK-NEXT: %0:4 = "om.unique"(%arg0) {axis, sorted = true} : (tensor<2x3xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<6xi64>, tensor<?xi64>)
func.func @unique(%arg0: tensor<2x3xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<6xi64>, tensor<?xi64>) {
  %0:4 = "om.unique"(%arg0) {axis, sorted = true} : (tensor<2x3xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<6xi64>, tensor<?xi64>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<?xf32>, tensor<?xi64>, tensor<6xi64>, tensor<?xi64>
}

// CHECK-LABEL: func.func @searchsorted(
// CHECK-NEXT: %0 = "om.searchsorted"(%arg0, %arg1) {right = false} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi64>
func.func @searchsorted(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> tensor<3xi64> {
  %0 = "om.searchsorted"(%arg0, %arg1) {right = false} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
