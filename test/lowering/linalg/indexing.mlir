// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// The first index out of range is found before anything is read, and places are clamped. An axis that may be empty is asked for.
// CHECK: om.messages = {{\[\[}}"IndexRangeError", "gather: index {found} is out of range for axis 0 of size {expected}
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%arg1 : tensor<5xi64>)
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %arg2[%{{.*}}] : memref<4xi64>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : tensor<5x3xf32>)
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: scf.if %{{.*}} -> (f32)
// CHECK: tensor.extract %arg0
func.func @main(%x: tensor<?x3xf32> {om.dims = ["n", ""]}, %i: tensor<5xi64>) -> tensor<5x3xf32> {
  %y = "om.gather"(%x, %i) {axis = 0 : i64} : (tensor<?x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// Literal indices that are in range need no check.
// CHECK: om.messages = []
// CHECK-NOT: memref.store
// CHECK: tensor.extract
func.func @main(%x: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %i = "om.constant"() {value = dense<[0, -4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = "om.gather"(%x, %i) {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Writes go into a copy, in row-major order; those out of range are left out.
// CHECK: %[[OUT:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %{{.*}}, %[[OUT]]
// CHECK: scf.for
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: memref.store %{{.*}}, %[[OUT]]
// CHECK: bufferization.to_tensor %[[OUT]] restrict writable
func.func @main(%x: tensor<4xf32>, %i: tensor<6xi32>, %u: tensor<6xf32>) -> tensor<4xf32> {
  %y = "om.scatter"(%x, %i, %u) {axis = 0 : i64, reduction = "add"} : (tensor<4xf32>, tensor<6xi32>, tensor<6xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// An update at a computed place is a slice at clamped offsets.
// CHECK: %[[S:.*]] = arith.maxsi
// CHECK: tensor.insert_slice %arg1 into %arg0[%[[S]]] [2] [1] : tensor<2xf32> into tensor<8xf32>
func.func @main(%x: tensor<8xf32>, %u: tensor<2xf32>, %s: tensor<1xi64>) -> tensor<8xf32> {
  %y = "om.dynamic_update"(%x, %u, %s) : (tensor<8xf32>, tensor<2xf32>, tensor<1xi64>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
