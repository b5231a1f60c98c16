// RUN: onemlir-opt %s --split-input-file --om-to-linalg --canonicalize --cse --om-split-prepare --canonicalize --cse | FileCheck %s

// What depends on weights alone runs once, in @prepare; @main takes its results.
// CHECK-LABEL: func.func @prepare
// CHECK-SAME: om.name = "w", om.role = "parameter"
// CHECK: math.exp
// CHECK: return
// CHECK-LABEL: func.func @main
// CHECK-SAME: om.name = "@prepare.0"
// CHECK-NOT: math.exp
func.func @main(%x: tensor<?x4xf32> {om.dims = ["n", ""]}) -> tensor<?x4xf32> {
  %w = "om.parameter"() {name = "w"} : () -> tensor<4x4xf32>
  %v = "om.exp"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = "om.add"(%x, %x) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "om.matmul"(%0, %v) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// Without weights there is nothing to prepare.
// CHECK-NOT: func.func @prepare
// CHECK: func.func @main
func.func @main(%x: tensor<?x4xf32> {om.dims = ["n", ""]}) -> tensor<?x4xf32> {
  %0 = "om.add"(%x, %x) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// What depends on an input stays in @main.
// CHECK-LABEL: func.func @prepare
// CHECK-NOT: math.exp
// CHECK-LABEL: func.func @main
// CHECK: math.exp
func.func @main(%x: tensor<?x4xf32> {om.dims = ["n", ""]}) -> tensor<?x4xf32> {
  %w = "om.parameter"() {name = "w"} : () -> tensor<4x4xf32>
  %v = "om.exp"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "om.matmul"(%v, %w) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
