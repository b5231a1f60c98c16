// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @conv(
// CHECK-NEXT: %0 = "om.conv"(%arg0, %arg1) {dilation = array<i64: 1>, groups = 1 : i64, padding = array<i64: 0, 0>, stride = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x2x1xf32>
func.func @conv(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x2x1xf32> {
  %0 = "om.conv"(%arg0, %arg1) {dilation = array<i64: 1>, groups = 1 : i64, padding = array<i64: 0, 0>, stride = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x2x1xf32>
  return %0 : tensor<2x2x1xf32>
}

// CHECK-LABEL: func.func @conv_integer(
// CHECK-NEXT: %0 = "om.conv_integer"(%arg0, %arg1, %arg2) {dilation = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x3x4x4xui8>, tensor<5x3x3x3xi8>, tensor<ui8>) -> tensor<2x5x4x4xi32>
func.func @conv_integer(%arg0: tensor<2x3x4x4xui8>, %arg1: tensor<5x3x3x3xi8>, %arg2: tensor<ui8>) -> tensor<2x5x4x4xi32> {
  %0 = "om.conv_integer"(%arg0, %arg1, %arg2) {dilation = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x3x4x4xui8>, tensor<5x3x3x3xi8>, tensor<ui8>) -> tensor<2x5x4x4xi32>
  return %0 : tensor<2x5x4x4xi32>
}

// CHECK-LABEL: func.func @conv_transpose(
// CHECK-NEXT: %0 = "om.conv_transpose"(%arg0, %arg1) {dilation = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x4x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x3x8x8xf32>
func.func @conv_transpose(%arg0: tensor<2x4x6x6xf32>, %arg1: tensor<4x3x3x3xf32>) -> tensor<2x3x8x8xf32> {
  %0 = "om.conv_transpose"(%arg0, %arg1) {dilation = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x4x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x3x8x8xf32>
  return %0 : tensor<2x3x8x8xf32>
}
