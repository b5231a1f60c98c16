// RUN: onemlir-opt %s --split-input-file --om-dce | FileCheck %s

// A result that nobody uses.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %x : tensor<2x3xf32>
}

// -----

// What only dead ops use is dead.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.log"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %x : tensor<2x3xf32>
}

// -----

// What is used stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.exp"
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.log"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A guard stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: "om.guard"(%arg0)
func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  "om.guard"(%p) {message = "m", kind = "GuardError", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<i1>) -> ()
  return %x : tensor<2x3xf32>
}

// -----

// Control flow without effects goes.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg1
func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %d = tensor.extract %p[] : tensor<i1>
  %0 = scf.if %d -> tensor<2x3xf32> {
    %1 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %1 : tensor<2x3xf32>
  } else {
    scf.yield %x : tensor<2x3xf32>
  }
  return %x : tensor<2x3xf32>
}

// -----

// A guard in a branch keeps the branch.
// CHECK-LABEL: func.func @main
// CHECK: scf.if
// CHECK-NEXT: "om.guard"
func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %d = tensor.extract %p[] : tensor<i1>
  scf.if %d {
  "om.guard"(%p) {message = "m", kind = "GuardError", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<i1>) -> ()
  }
  return %x : tensor<2x3xf32>
}

// -----

// A loop that may not end stays.
// CHECK-LABEL: func.func @main
// CHECK: scf.while
func.func @main(%k: tensor<i64>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = scf.while (%t = %k) : (tensor<i64>) -> tensor<i64> {
  %l = "om.greater"(%t, %k) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %d = tensor.extract %l[] : tensor<i1>
    scf.condition(%d) %t : tensor<i64>
  } do {
  ^bb0(%t: tensor<i64>):
    scf.yield %t : tensor<i64>
  }
  return %x : tensor<2x3xf32>
}

// -----

// One of two results is used.
// CHECK-LABEL: func.func @main
// CHECK: "om.topk"
func.func @main(%k: tensor<3xf32>) -> tensor<2xf32> {
  %v, %i = "om.topk"(%k) {k = array<i64: 2>, axis = 0 : i64, largest = true, sorted = true} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return %v : tensor<2xf32>
}

// -----

// Sizes that nobody asks for.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<?x4xf32> {om.dims = ["batch", ""]}) -> tensor<?x4xf32> {
  %n = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
  %k = arith.addi %n, %n : index
  return %x : tensor<?x4xf32>
}

// -----

// A weight that nobody reads.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = "om.parameter"() {name = "w"} : () -> tensor<2xf32>
  return %x : tensor<2x3xf32>
}
