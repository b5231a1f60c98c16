// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// One product for the inputs of all steps; a step is a product with the state and one pass that updates the state.
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]{{\]}} : tensor<5x3x4xf32> into tensor<15x4xf32>
// CHECK: om.kernel = {name = "matmul"}
// CHECK: scf.for %{{.*}} iter_args(%[[Y:[a-z0-9_]+]] = %{{.*}}, %[[H:[a-z0-9_]+]] = %{{.*}}) -> (tensor<5x3x6xf32>, tensor<3x6xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[H]], %arg2 {{.*}}om.kernel = {name = "matmul"}
// CHECK: linalg.generic {{.*}} outs(%[[H]] : tensor<3x6xf32>)
// CHECK: math.tanh
// CHECK: tensor.insert_slice %{{.*}} into %[[Y]]
// CHECK: om.fixed_sizes
func.func @main(%x: tensor<5x3x4xf32>, %w: tensor<6x4xf32>, %r: tensor<6x6xf32>) -> (tensor<5x3x6xf32>, tensor<3x6xf32>) {
  %y, %h = "om.rnn_layer"(%x, %w, %r) {activation = "tanh", clip, reverse = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<5x3x4xf32>, tensor<6x4xf32>, tensor<6x6xf32>) -> (tensor<5x3x6xf32>, tensor<3x6xf32>)
  return %y, %h : tensor<5x3x6xf32>, tensor<3x6xf32>
}
