// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @layer_norm(
// CHECK-NEXT: %0 = "om.layer_norm"(%arg0) {axes_count = 1 : i64, eps = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @layer_norm(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.layer_norm"(%arg0) {axes_count = 1 : i64, eps = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @rms_norm(
// CHECK-NEXT: %0 = "om.rms_norm"(%arg0) {axes_count = 1 : i64, eps} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @rms_norm(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.rms_norm"(%arg0) {axes_count = 1 : i64, eps} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @batch_norm(
// CHECK-NEXT: %0 = "om.batch_norm"(%arg0, %arg1, %arg2) {eps = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
func.func @batch_norm(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "om.batch_norm"(%arg0, %arg1, %arg2) {eps = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @group_norm(
// CHECK-NEXT: %0 = "om.group_norm"(%arg0) {eps = 1.000000e-05 : f64, num_groups = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @group_norm(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.group_norm"(%arg0) {eps = 1.000000e-05 : f64, num_groups = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @instance_norm(
// CHECK-NEXT: %0 = "om.instance_norm"(%arg0) {eps = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
func.func @instance_norm(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "om.instance_norm"(%arg0) {eps = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @local_response_norm(
// CHECK-NEXT: %0 = "om.local_response_norm"(%arg0) {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, k = 1.000000e+00 : f64, size = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @local_response_norm(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.local_response_norm"(%arg0) {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, k = 1.000000e+00 : f64, size = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
