// RUN: onemlir-opt %s --split-input-file --om-split-batch=cache=100 | FileCheck %s

// Each layer reads and writes more than 100 bytes: one sample at a time; the residual and the input are cut, weights are not.
// CHECK-LABEL: func.func @main
// CHECK: %[[OUT:.*]] = "om.full"
// CHECK: %[[LOOP:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %[[OUT]])
// CHECK: %[[X:.*]] = "om.slice"(%arg0, %[[I]]) {shape = array<i64: 1, 2, 4, 4>
// CHECK: %[[C:.*]] = "om.conv"(%[[X]], %arg1)
// CHECK-SAME: -> tensor<1x2x4x4xf32>
// CHECK: %[[B:.*]] = "om.batch_norm"(%[[C]], %arg2, %arg2)
// CHECK: %[[R:.*]] = "om.relu"(%[[B]])
// CHECK: %[[D:.*]] = "om.conv"(%[[R]], %arg1)
// CHECK: %[[S:.*]] = "om.add"(%[[D]], %[[R]])
// CHECK: %[[NEXT:.*]] = "om.slice_update"(%[[ACC]], %[[S]], %[[I]])
// CHECK: scf.yield %[[NEXT]]
// CHECK: return %[[LOOP]]
func.func @main(%x: tensor<3x2x4x4xf32>, %w: tensor<2x2x3x3xf32>, %m: tensor<2xf32>) -> tensor<3x2x4x4xf32> {
  %0 = "om.conv"(%x, %w) {dilation = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<3x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<3x2x4x4xf32>
  %1 = "om.batch_norm"(%0, %m, %m) {eps = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<3x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2x4x4xf32>
  %2 = "om.relu"(%1) : (tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32>
  %3 = "om.conv"(%2, %w) {dilation = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<3x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<3x2x4x4xf32>
  %4 = "om.add"(%3, %2) : (tensor<3x2x4x4xf32>, tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32>
  return %4 : tensor<3x2x4x4xf32>
}

// -----

// A symbolic batch: the loop has as many steps as there are samples, and its kernels know all sizes. What the loop leaves is what is
// smallest: the means.
// CHECK-LABEL: func.func @main
// CHECK: "om.dim"(%arg0) {axis = 0 : i64}
// CHECK: scf.for {{.*}} -> (tensor<?x2xf32>)
// CHECK: "om.conv"{{.*}} -> tensor<1x2x4x4xf32>
// CHECK: "om.max_pool"{{.*}} -> tensor<1x2x4x4xf32>
// CHECK: "om.mean"{{.*}} -> tensor<1x2xf32>
// CHECK: }
// CHECK: "om.matmul"
func.func @main(%x: tensor<?x2x4x4xf32>, %w: tensor<2x2x3x3xf32>, %v: tensor<2x9xf32>) -> tensor<?x9xf32> {
  %0 = "om.conv"(%x, %w) {dilation = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<?x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<?x2x4x4xf32>
  %1 = "om.relu"(%0) : (tensor<?x2x4x4xf32>) -> tensor<?x2x4x4xf32>
  %2 = "om.max_pool"(%1) {ceil_mode = false, dilation = array<i64: 1, 1>, kernel_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<?x2x4x4xf32>) -> tensor<?x2x4x4xf32>
  %3 = "om.mean"(%2) {axis = array<i64: 2, 3>, keepdims = false} : (tensor<?x2x4x4xf32>) -> tensor<?x2xf32>
  %4 = "om.matmul"(%3, %v) : (tensor<?x2xf32>, tensor<2x9xf32>) -> tensor<?x9xf32>
  return %4 : tensor<?x9xf32>
}

// -----

// An op along the batch (a sum of samples) ends what can be split; two layers before it are too few. One sample is no batch.
// CHECK-LABEL: func.func @main
// CHECK-NOT: scf.for
func.func @main(%x: tensor<3x2x4x4xf32>, %w: tensor<2x2x3x3xf32>, %y: tensor<1x2x64x64xf32>) -> (tensor<2x4x4xf32>, tensor<1x2x64x64xf32>) {
  %0 = "om.conv"(%x, %w) {dilation = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<3x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<3x2x4x4xf32>
  %1 = "om.relu"(%0) : (tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32>
  %2 = "om.sum"(%1) {axis = array<i64: 0>, keepdims = false} : (tensor<3x2x4x4xf32>) -> tensor<2x4x4xf32>
  %3 = "om.relu"(%2) : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %4 = "om.conv"(%y, %w) {dilation = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x2x64x64xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x64x64xf32>
  %5 = "om.relu"(%4) : (tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
  %6 = "om.relu"(%5) : (tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
  %7 = "om.relu"(%6) : (tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
  return %3, %7 : tensor<2x4x4xf32>, tensor<1x2x64x64xf32>
}
