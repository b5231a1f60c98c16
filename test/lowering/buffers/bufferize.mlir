// RUN: onemlir-opt %s --split-input-file --om-to-linalg --canonicalize --cse --om-bufferize | FileCheck %s

// The result is written where the caller wants it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: memref<8xf32> {om.role = "input"}, %[[Y:.*]]: memref<8xf32> {om.role = "input"}, %{{.*}}: memref<4xi64> {om.role = "status"}, %[[R:.*]]: memref<8xf32> {om.role = "output"}
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[Y]] : memref<8xf32>, memref<8xf32>) outs(%[[R]] : memref<8xf32>)
// CHECK-NOT: memref.copy
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "om.add"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// An input that is returned is copied.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: memref<8xf32> {om.role = "input"}
// CHECK: memref.copy %[[X]]
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// An input is never written.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: memref<8xf32> {om.role = "input"}
// CHECK-NOT: outs(%[[X]]
// CHECK: return
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = "om.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %x, %0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A value returned twice is in two places.
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic
// CHECK: memref.copy
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = "om.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}
