// RUN: onemlir-opt %s --split-input-file --om-sink-transposes --om-dce | FileCheck %s

// The rows of a product are computed in the order in which they lie; what follows in the same order, too.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = "om.matmul"(%arg0, %arg1)
// CHECK-NEXT: %[[S:.*]] = "om.add"(%[[P]], %arg2)
// CHECK-NEXT: %[[T:.*]] = "om.transpose"(%[[S]]) {axes = array<i64: 1, 0, 2>}
// CHECK-NEXT: return %[[T]]
func.func @main(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<3x2x5xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = "om.matmul"(%0, %w) : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  %2 = "om.add"(%1, %b) : (tensor<3x2x5xf32>, tensor<5xf32>) -> tensor<3x2x5xf32>
  return %2 : tensor<3x2x5xf32>
}

// -----

// Back to the order at the start: no transpose is left.
// CHECK-LABEL: func.func @main
// CHECK-NOT: om.transpose
// CHECK: %[[P:.*]] = "om.matmul"(%arg0, %arg1)
// CHECK: return %[[P]]
func.func @main(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = "om.matmul"(%0, %w) : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  %2 = "om.transpose"(%1) {axes = array<i64: 1, 0, 2>} : (tensor<3x2x5xf32>) -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// -----

// Through a reshape that splits an axis, and a slice.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = "om.matmul"(%arg0, %arg1)
// CHECK: %[[R:.*]] = "om.reshape"(%[[P]]) {shape = array<i64: 2, 3, 2, 3>}
// CHECK: %[[S:.*]] = "om.slice"(%[[R]]) {shape = array<i64: 2, 3, 1, 3>, starts = array<i64: 0, 0, 1, 0>
// CHECK: %[[T:.*]] = "om.transpose"(%[[S]]) {axes = array<i64: 1, 0, 2, 3>}
// CHECK: return %[[T]]
func.func @main(%x: tensor<2x3x4xf32>, %w: tensor<4x6xf32>) -> tensor<3x2x1x3xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = "om.matmul"(%0, %w) : (tensor<3x2x4xf32>, tensor<4x6xf32>) -> tensor<3x2x6xf32>
  %2 = "om.reshape"(%1) {shape = array<i64: 3, 2, 2, 3>} : (tensor<3x2x6xf32>) -> tensor<3x2x2x3xf32>
  %3 = "om.slice"(%2) {starts = array<i64: 0, 0, 1, 0>, shape = array<i64: 3, 2, 1, 3>, steps = array<i64: 1, 1, 1, 1>} : (tensor<3x2x2x3xf32>) -> tensor<3x2x1x3xf32>
  return %3 : tensor<3x2x1x3xf32>
}

// -----

// A reshape that joins the axes which were exchanged needs the elements moved.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = "om.matmul"(%arg0, %arg1)
// CHECK-NEXT: %[[T:.*]] = "om.transpose"(%[[P]])
// CHECK-NEXT: %[[R:.*]] = "om.reshape"(%[[T]])
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>) -> tensor<6x5xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = "om.matmul"(%0, %w) : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  %2 = "om.reshape"(%1) {shape = array<i64: 6, 5>} : (tensor<3x2x5xf32>) -> tensor<6x5xf32>
  return %2 : tensor<6x5xf32>
}

// -----

// A transpose that moves the summed axis stays, and so does one whose product has matrices of its own.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = "om.transpose"(%arg0)
// CHECK-NEXT: "om.matmul"(%[[A]], %arg1)
// CHECK: %[[B:.*]] = "om.transpose"(%arg2)
// CHECK-NEXT: "om.matmul"(%[[B]], %arg3)
func.func @main(%x: tensor<4x3xf32>, %w: tensor<4x5xf32>, %y: tensor<2x3x4xf32>, %v: tensor<3x4x5xf32>) -> (tensor<3x5xf32>, tensor<3x2x5xf32>) {
  %0 = "om.transpose"(%x) {axes = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = "om.matmul"(%0, %w) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %2 = "om.transpose"(%y) {axes = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %3 = "om.matmul"(%2, %v) : (tensor<3x2x4xf32>, tensor<3x4x5xf32>) -> tensor<3x2x5xf32>
  return %1, %3 : tensor<3x5xf32>, tensor<3x2x5xf32>
}

// -----

// An addend that is broadcast along an axis that moves stops the transpose; axes of any size stay open.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = "om.matmul"(%arg0, %arg1)
// CHECK: %[[T:.*]] = "om.transpose"(%[[P]]) {axes = array<i64: 1, 0, 2>} : (tensor<?x3x5xf32>) -> tensor<3x?x5xf32>
// CHECK: "om.add"(%[[T]], %arg2)
func.func @main(%x: tensor<?x3x4xf32>, %w: tensor<4x5xf32>, %b: tensor<3x1x1xf32>) -> tensor<3x?x5xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 1, 0, 2>} : (tensor<?x3x4xf32>) -> tensor<3x?x4xf32>
  %1 = "om.matmul"(%0, %w) : (tensor<3x?x4xf32>, tensor<4x5xf32>) -> tensor<3x?x5xf32>
  %2 = "om.add"(%1, %b) : (tensor<3x?x5xf32>, tensor<3x1x1xf32>) -> tensor<3x?x5xf32>
  return %2 : tensor<3x?x5xf32>
}
