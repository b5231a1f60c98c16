// RUN: onemlir-opt %s --split-input-file --om-cse | FileCheck %s

// Operands of a commutative op in either order.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[S:.*]] = "om.add"(%arg0, %arg1)
// CHECK-NEXT: %[[R:.*]] = "om.multiply"(%[[S]], %[[S]])
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.add"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.add"(%y, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "om.multiply"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// A difference has an order.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: "om.subtract"
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.subtract"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.subtract"(%y, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "om.multiply"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// Other attributes, other ops.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: "om.sum"
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0 = "om.sum"(%x) {axis = array<i64: 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  %1 = "om.sum"(%x) {axis = array<i64: 0>, keepdims = false} : (tensor<2x3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<2xf32>, tensor<3xf32>
}

// -----

// 0.0 and -0.0 are two literals.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: "om.constant"
func.func @main() -> (tensor<f32>, tensor<f32>) {
  %c = "om.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %d = "om.constant"() {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  return %c, %d : tensor<f32>, tensor<f32>
}

// -----

// A weight read twice.
// CHECK-LABEL: func.func @main
// CHECK: "om.parameter"
// CHECK-NOT: "om.parameter"
func.func @main() -> tensor<2xf32> {
  %a = "om.parameter"() {name = "w"} : () -> tensor<2xf32>
  %b = "om.parameter"() {name = "w"} : () -> tensor<2xf32>
  %0 = "om.add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Guards have an effect.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: "om.guard"
func.func @main(%p: tensor<i1>) -> tensor<i1> {
  "om.guard"(%p) {message = "m", kind = "GuardError", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<i1>) -> ()
  "om.guard"(%p) {message = "m", kind = "GuardError", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<i1>) -> ()
  return %p : tensor<i1>
}

// -----

// A region sees what came before it.
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = "om.exp"(%arg1)
// CHECK: scf.if
// CHECK-NEXT: scf.yield %[[E]]
// CHECK-NOT: "om.exp"
func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = tensor.extract %p[] : tensor<i1>
  %0 = scf.if %d -> tensor<2x3xf32> {
    %1 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %1 : tensor<2x3xf32>
  } else {
    scf.yield %x : tensor<2x3xf32>
  }
  %2 = "om.add"(%e, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// The branches of an if do not see each other.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: "om.exp"
func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %d = tensor.extract %p[] : tensor<i1>
  %0 = scf.if %d -> tensor<2x3xf32> {
    %1 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %1 : tensor<2x3xf32>
  } else {
    %1 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %1 : tensor<2x3xf32>
  }
  return %0 : tensor<2x3xf32>
}

// -----

// What is computed inside is not known outside.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: "om.exp"
func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %d = tensor.extract %p[] : tensor<i1>
  %0 = scf.if %d -> tensor<2x3xf32> {
    %1 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %1 : tensor<2x3xf32>
  } else {
    scf.yield %x : tensor<2x3xf32>
  }
  %e = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "om.add"(%e, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// Sizes.
// CHECK-LABEL: func.func @main
// CHECK: %[[N:.*]] = "om.dim"
// CHECK-NEXT: arith.addi %[[N]], %[[N]]
func.func @main(%x: tensor<?x4xf32> {om.dims = ["batch", ""]}) -> tensor<?xi64> {
  %n = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
  %m = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
  %k = arith.addi %n, %m : index
  %0 = "om.iota"(%k) {size = array<i64: -1>, dtype = i64} : (index) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}
