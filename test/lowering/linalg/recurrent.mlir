// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// One product for the inputs of all steps; the kernel of the steps reads the recurrent weight packed by units, and keeps two h.
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]{{\]}} : tensor<5x3x4xf32> into tensor<15x4xf32>
// CHECK: om.kernel = {name = "matmul"}
// CHECK: bufferization.to_buffer %{{.*}} read_only : tensor<5x3x6xf32>
// CHECK: %[[Y:.*]] = memref.alloc() : memref<5x3x6xf32>
// CHECK: %[[H:.*]] = memref.alloc() : memref<2x3x6xf32>
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: vector.fma
// CHECK: math.tanh %{{.*}} : vector<
// CHECK: vector.maskedstore %[[Y]]
// CHECK: vector.maskedstore %[[H]]
func.func @main(%x: tensor<5x3x4xf32>, %w: tensor<6x4xf32>, %r: tensor<6x6xf32>) -> (tensor<5x3x6xf32>, tensor<3x6xf32>) {
  %y, %h = "om.rnn_layer"(%x, %w, %r) {activation = "tanh", clip, reverse = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<5x3x4xf32>, tensor<6x4xf32>, tensor<6x6xf32>) -> (tensor<5x3x6xf32>, tensor<3x6xf32>)
  return %y, %h : tensor<5x3x6xf32>, tensor<3x6xf32>
}

// -----

// A GRU that resets the state first carries y and the state through a loop with two products.
// CHECK: scf.for %{{.*}} iter_args(%[[Y:[a-z0-9_]+]] = %{{.*}}, %[[H:[a-z0-9_]+]] = %{{.*}}) -> (tensor<5x3x2xf32>, tensor<3x2xf32>)
// CHECK-COUNT-2: om.kernel = {name = "matmul"}
// CHECK: tensor.insert_slice %{{.*}} into %[[Y]]
// CHECK: om.fixed_sizes
func.func @main(%x: tensor<5x3x4xf32>, %w: tensor<6x4xf32>, %r: tensor<6x2xf32>) -> (tensor<5x3x2xf32>, tensor<3x2xf32>) {
  %y, %h = "om.gru_layer"(%x, %w, %r) {gate_activation = "sigmoid", activation = "tanh", clip, linear_before_reset = false, reverse = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<5x3x4xf32>, tensor<6x4xf32>, tensor<6x2xf32>) -> (tensor<5x3x2xf32>, tensor<3x2xf32>)
  return %y, %h : tensor<5x3x2xf32>, tensor<3x2xf32>
}
