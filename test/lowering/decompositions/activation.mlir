// RUN: onemlir-opt %s --split-input-file --om-decompose | FileCheck %s

// softmax.
// CHECK-LABEL: func.func @main
// CHECK: %[[M:.*]] = "om.max"(%arg0) {axis = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[D:.*]] = "om.subtract"(%arg0, %[[M]])
// CHECK-NEXT: %[[E:.*]] = "om.exp"(%[[D]])
// CHECK-NEXT: %[[S:.*]] = "om.sum"(%[[E]]) {axis = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[I:.*]] = "om.reciprocal"(%[[S]])
// CHECK-NEXT: %[[R:.*]] = "om.multiply"(%[[E]], %[[I]])
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.softmax"(%x) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// An op that has a lowering stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.exp"(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// silu.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = "om.sigmoid"(%arg0)
// CHECK-NEXT: %[[R:.*]] = "om.multiply"(%arg0, %[[S]])
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.silu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A composite op that has a lowering of its own stays whole.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.linear"(%arg0, %arg1, %arg2)
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = "om.linear"(%x, %w, %b) : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// log_softmax along the first axis.
// CHECK-LABEL: func.func @main
// CHECK-NOT: om.log_softmax
// CHECK: {{axis = array<i64: 0>}}
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.log_softmax"(%x) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
