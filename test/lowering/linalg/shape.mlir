// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// Only the axes that change are collapsed or expanded.
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1], [2, 3]{{\]}} output_shape [%{{.*}}, %{{.*}}, 2, 2]
func.func @main(%x: tensor<?x?x4xf32> {om.dims = ["a", "b", ""]}) -> tensor<?x?x2x2xf32> {
  %a = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x?x4xf32>) -> index
  %b = "om.dim"(%x) {axis = 1 : i64} : (tensor<?x?x4xf32>) -> index
  %y = "om.reshape"(%x, %a, %b) {shape = array<i64: -1, -1, 2, 2>} : (tensor<?x?x4xf32>, index, index) -> tensor<?x?x2x2xf32>
  return %y : tensor<?x?x2x2xf32>
}

// -----

// Several dynamic axes out of one need the shape at run time.
// CHECK: tensor.reshape
func.func @main(%x: tensor<?x?x4xf32> {om.dims = ["a", "b", ""]}) -> tensor<?x?x4xf32> {
  %a = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x?x4xf32>) -> index
  %b = "om.dim"(%x) {axis = 1 : i64} : (tensor<?x?x4xf32>) -> index
  %y = "om.reshape"(%x, %b, %a) {shape = array<i64: -1, -1, 4>} : (tensor<?x?x4xf32>, index, index) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// -----

// CHECK: %[[V:.*]] = tensor.extract %arg1[] : tensor<f32>
// CHECK: linalg.yield %[[V]]
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[1, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<3x5xf32>
func.func @main(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<3x5xf32> {
  %y = "om.pad_constant"(%x, %v) {low = array<i64: 1, 0>, high = array<i64: 0, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
