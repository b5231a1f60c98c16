// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// CHECK: %[[C:.*]] = tensor.extract
// CHECK: scf.if %[[C]] -> (tensor<3xf32>)
func.func @main(%x: tensor<3xf32>, %p: tensor<i1>) -> tensor<3xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  %y = scf.if %c -> tensor<3xf32> {
    %a = "om.add"(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    scf.yield %a : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  return %y : tensor<3xf32>
}

// -----

// A carried tensor that keeps its shape says so; the induction variable is a size.
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%{{.*}} = %arg0) -> (tensor<?xi64>)
// CHECK: arith.index_cast %[[I]]
// CHECK: scf.yield
// CHECK-NEXT: } {om.fixed_sizes}
func.func @main(%x: tensor<?xi64> {om.dims = ["n"]}) -> tensor<?xi64> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = "om.dim"(%x) {axis = 0 : i64} : (tensor<?xi64>) -> index
  %y = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> tensor<?xi64> {
    %s = "om.from_size"(%i) : (index) -> tensor<i64>
    %u = "om.add"(%t, %s) : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
    scf.yield %u : tensor<?xi64>
  }
  return %y : tensor<?xi64>
}

// -----

// One that grows does not.
// CHECK: scf.for
// CHECK: tensor.insert_slice
// CHECK-NOT: om.fixed_sizes
func.func @main(%x: tensor<?xf32> {om.dims = ["n"]}) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %y = scf.for %i = %zero to %three step %one iter_args(%t = %x) -> tensor<?xf32> {
    %u = "tensor.concat"(%t, %x) {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

// CHECK: scf.while (%{{.*}} = %arg0, %{{.*}} = %arg1) : (tensor<3xf32>, tensor<i64>) -> (tensor<3xf32>, tensor<i64>)
// CHECK: %[[C:.*]] = tensor.extract
// CHECK: scf.condition(%[[C]])
// CHECK: } do {
func.func @main(%x: tensor<3xf32>, %k: tensor<i64>) -> tensor<3xf32> {
  %one = "om.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %y, %n = scf.while (%t = %x, %i = %k) : (tensor<3xf32>, tensor<i64>) -> (tensor<3xf32>, tensor<i64>) {
    %l = "om.greater"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %d = tensor.extract %l[] : tensor<i1>
    scf.condition(%d) %t, %i : tensor<3xf32>, tensor<i64>
  } do {
  ^bb0(%t: tensor<3xf32>, %i: tensor<i64>):
    %u = "om.exp"(%t) : (tensor<3xf32>) -> tensor<3xf32>
    %j = "om.subtract"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    scf.yield %u, %j : tensor<3xf32>, tensor<i64>
  }
  return %y : tensor<3xf32>
}
