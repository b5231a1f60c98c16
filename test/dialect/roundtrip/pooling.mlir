// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @max_pool(
// CHECK-NEXT: %0 = "om.max_pool"(%arg0) {ceil_mode = false, dilation = array<i64: 1, 1>, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
func.func @max_pool(%arg0: tensor<2x3xf32>) -> tensor<1x1xf32> {
  %0 = "om.max_pool"(%arg0) {ceil_mode = false, dilation = array<i64: 1, 1>, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// CHECK-LABEL: func.func @max_pool_with_indices(
// CHECK-NEXT: %0:2 = "om.max_pool_with_indices"(%arg0) {ceil_mode = false, dilation = array<i64: 1, 1>, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x3xf32>) -> (tensor<1x1xf32>, tensor<1x1xi64>)
func.func @max_pool_with_indices(%arg0: tensor<2x3xf32>) -> (tensor<1x1xf32>, tensor<1x1xi64>) {
  %0:2 = "om.max_pool_with_indices"(%arg0) {ceil_mode = false, dilation = array<i64: 1, 1>, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x3xf32>) -> (tensor<1x1xf32>, tensor<1x1xi64>)
  return %0#0, %0#1 : tensor<1x1xf32>, tensor<1x1xi64>
}

// CHECK-LABEL: func.func @avg_pool(
// CHECK-NEXT: %0 = "om.avg_pool"(%arg0) {ceil_mode = false, count_include_pad = true, dilation = array<i64: 1, 1>, divisor, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
func.func @avg_pool(%arg0: tensor<2x3xf32>) -> tensor<1x1xf32> {
  %0 = "om.avg_pool"(%arg0) {ceil_mode = false, count_include_pad = true, dilation = array<i64: 1, 1>, divisor, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
