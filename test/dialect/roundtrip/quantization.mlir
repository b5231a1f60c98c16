// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @quantize_linear(
// CHECK-NEXT: %0 = "om.quantize_linear"(%arg0, %arg1) {axis = 1 : i64, block_size = 0 : i64, dtype = ui8} : (tensor<f32>, tensor<f32>) -> tensor<ui8>
func.func @quantize_linear(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<ui8> {
  %0 = "om.quantize_linear"(%arg0, %arg1) {axis = 1 : i64, block_size = 0 : i64, dtype = ui8} : (tensor<f32>, tensor<f32>) -> tensor<ui8>
  return %0 : tensor<ui8>
}

// CHECK-LABEL: func.func @dequantize_linear(
// CHECK-NEXT: %0 = "om.dequantize_linear"(%arg0, %arg1) {axis = 1 : i64, block_size = 0 : i64} : (tensor<i8>, tensor<f32>) -> tensor<f32>
func.func @dequantize_linear(%arg0: tensor<i8>, %arg1: tensor<f32>) -> tensor<f32> {
  %0 = "om.dequantize_linear"(%arg0, %arg1) {axis = 1 : i64, block_size = 0 : i64} : (tensor<i8>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @dequantized_linear(
// CHECK-NEXT: %0 = "om.dequantized_linear"(%arg0, %arg1, %arg2) {bits = 8 : i64, block_size = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, rounds_x = false} : (tensor<1x2xf32>, tensor<3x2xi8>, tensor<3x1xf32>) -> tensor<1x3xf32>
func.func @dequantized_linear(%arg0: tensor<1x2xf32>, %arg1: tensor<3x2xi8>, %arg2: tensor<3x1xf32>) -> tensor<1x3xf32> {
  %0 = "om.dequantized_linear"(%arg0, %arg1, %arg2) {bits = 8 : i64, block_size = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, rounds_x = false} : (tensor<1x2xf32>, tensor<3x2xi8>, tensor<3x1xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
