// RUN: onemlir-opt %s --split-input-file --om-keep-quantized-weights --om-dce | FileCheck %s

// One scale a column of the product.
// CHECK-LABEL: func.func @columns
// CHECK: %[[V:.*]] = "om.parameter"
// CHECK: %[[ROWS:.*]] = "om.transpose"(%[[V]])
// CHECK: "om.reshape"(%arg1) {shape = array<i64: 512, 1>}
// CHECK: "om.dequantized_linear"(%arg0, %[[ROWS]], %[[COLUMN:.*]]) {bits = 8 : i64, block_size = 512 : i64
// CHECK-SAME: -> tensor<?x512xf32>
func.func @columns(%x: tensor<?x512xf32>, %s: tensor<512xf32>) -> tensor<?x512xf32> {
  %v = "om.parameter"() {name = "v"} : () -> tensor<512x512xi8>
  %w = "om.dequantize_linear"(%v, %s) {axis = 1 : i64, block_size = 0 : i64} : (tensor<512x512xi8>, tensor<512xf32>) -> tensor<512x512xf32>
  %y = "om.matmul"(%x, %w) : (tensor<?x512xf32>, tensor<512x512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}

// -----

// Blocks of a row, masked to four bits.
// CHECK-LABEL: func.func @blocks
// CHECK: %[[V:.*]] = "om.bitwise_and"
// CHECK: "om.dequantized_linear"(%arg0, %[[V]], %arg1) {bits = 4 : i64, block_size = 32 : i64
func.func @blocks(%x: tensor<3x512xf32>, %s: tensor<512x16xf32>) -> tensor<3x512xf32> {
  %v = "om.parameter"() {name = "v"} : () -> tensor<512x512xui8>
  %m = "om.constant"() {value = dense<15> : tensor<ui8>} : () -> tensor<ui8>
  %q = "om.bitwise_and"(%v, %m) : (tensor<512x512xui8>, tensor<ui8>) -> tensor<512x512xui8>
  %w = "om.dequantize_linear"(%q, %s) {axis = 1 : i64, block_size = 32 : i64} : (tensor<512x512xui8>, tensor<512x16xf32>) -> tensor<512x512xf32>
  %y = "om.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x512xf32>, tensor<512x512xf32>) -> tensor<3x512xf32>
  return %y : tensor<3x512xf32>
}

// -----

// Not a weight; small; scales along the axis that is summed over.
// CHECK-LABEL: func.func @others
// CHECK-NOT: om.dequantized_linear
func.func @others(%x: tensor<3x512xf32>, %v: tensor<512x512xi8>, %s: tensor<512xf32>) -> (tensor<3x512xf32>, tensor<3x8xf32>, tensor<3x512xf32>) {
  %w = "om.dequantize_linear"(%v, %s) {axis = 1 : i64, block_size = 0 : i64} : (tensor<512x512xi8>, tensor<512xf32>) -> tensor<512x512xf32>
  %a = "om.matmul"(%x, %w) : (tensor<3x512xf32>, tensor<512x512xf32>) -> tensor<3x512xf32>
  %p = "om.parameter"() {name = "p"} : () -> tensor<512x8xi8>
  %t = "om.dequantize_linear"(%p, %s) {axis = 0 : i64, block_size = 0 : i64} : (tensor<512x8xi8>, tensor<512xf32>) -> tensor<512x8xf32>
  %b = "om.matmul"(%x, %t) : (tensor<3x512xf32>, tensor<512x8xf32>) -> tensor<3x8xf32>
  %q = "om.parameter"() {name = "q"} : () -> tensor<512x512xi8>
  %u = "om.dequantize_linear"(%q, %s) {axis = 0 : i64, block_size = 0 : i64} : (tensor<512x512xi8>, tensor<512xf32>) -> tensor<512x512xf32>
  %c = "om.matmul"(%x, %u) : (tensor<3x512xf32>, tensor<512x512xf32>) -> tensor<3x512xf32>
  return %a, %b, %c : tensor<3x512xf32>, tensor<3x8xf32>, tensor<3x512xf32>
}
