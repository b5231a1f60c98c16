// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @matmul(
// CHECK-NEXT: %0 = "om.matmul"(%arg0, %arg1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
func.func @matmul(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "om.matmul"(%arg0, %arg1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @matmul_integer(
// CHECK-NEXT: %0 = "om.matmul_integer"(%arg0, %arg1) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<2x2xui8>, tensor<2x2xi8>) -> tensor<2x2xi32>
func.func @matmul_integer(%arg0: tensor<2x2xui8>, %arg1: tensor<2x2xi8>) -> tensor<2x2xi32> {
  %0 = "om.matmul_integer"(%arg0, %arg1) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<2x2xui8>, tensor<2x2xi8>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// CHECK-LABEL: func.func @linear(
// CHECK-NEXT: %0 = "om.linear"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
func.func @linear(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %0 = "om.linear"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
