// RUN: env ONEMLIR_TARGET=avx512 onemlir-opt %s --split-input-file --om-keep-quantized-weights --om-dce | FileCheck %s
// RUN: env ONEMLIR_TARGET=avx512vnni onemlir-opt %s --split-input-file --om-keep-quantized-weights --om-dce | FileCheck %s --check-prefix=VNNI

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

// -----

// One scale; one a row; blocks along the rows.
// CHECK-LABEL: func.func @tables
// CHECK: %[[A:.*]] = "om.gather"(%{{.*}}, %arg0) {axis = 0 : i64} : (tensor<1024x512xi8>, tensor<2x?xi64>) -> tensor<2x?x512xi8>
// CHECK: "om.dequantize_linear"(%[[A]], %arg1)
// CHECK: %[[B:.*]] = "om.gather"(%{{.*}}, %arg0)
// CHECK: %[[S:.*]] = "om.gather"(%arg2, %arg0)
// CHECK: "om.reshape"(%[[S]]
// CHECK: "om.dequantize_linear"(%[[B]], %{{.*}}) {axis = 2 : i64, block_size = 512 : i64
// CHECK: %[[T:.*]] = "om.gather"(%arg3, %arg0)
// CHECK: %[[C:.*]] = "om.gather"(%{{.*}}, %arg0)
// CHECK: "om.dequantize_linear"(%[[C]], %[[T]]) {axis = 2 : i64, block_size = 32 : i64
func.func @tables(%i: tensor<2x?xi64>, %s: tensor<f32>, %r: tensor<1024xf32>, %b: tensor<1024x16xf32>) -> (tensor<2x?x512xf32>, tensor<2x?x512xf32>, tensor<2x?x512xf32>) {
  %v = "om.parameter"() {name = "v"} : () -> tensor<1024x512xi8>
  %0 = "om.dequantize_linear"(%v, %s) {axis = 1 : i64, block_size = 0 : i64} : (tensor<1024x512xi8>, tensor<f32>) -> tensor<1024x512xf32>
  %x = "om.gather"(%0, %i) {axis = 0 : i64} : (tensor<1024x512xf32>, tensor<2x?xi64>) -> tensor<2x?x512xf32>
  %1 = "om.dequantize_linear"(%v, %r) {axis = 0 : i64, block_size = 0 : i64} : (tensor<1024x512xi8>, tensor<1024xf32>) -> tensor<1024x512xf32>
  %y = "om.gather"(%1, %i) {axis = 0 : i64} : (tensor<1024x512xf32>, tensor<2x?xi64>) -> tensor<2x?x512xf32>
  %2 = "om.dequantize_linear"(%v, %b) {axis = 1 : i64, block_size = 32 : i64} : (tensor<1024x512xi8>, tensor<1024x16xf32>) -> tensor<1024x512xf32>
  %z = "om.gather"(%2, %i) {axis = 0 : i64} : (tensor<1024x512xf32>, tensor<2x?xi64>) -> tensor<2x?x512xf32>
  return %x, %y, %z : tensor<2x?x512xf32>, tensor<2x?x512xf32>, tensor<2x?x512xf32>
}

// -----

// Rows that may be rounded are, where the processor multiplies bytes.
// CHECK-LABEL: func.func @rounded
// CHECK-NEXT: "om.dequantized_linear"(%arg0, %arg1, %arg2)
// CHECK-SAME: rounds_x = true
// VNNI-LABEL: func.func @rounded
// VNNI: %[[TOP:.*]] = "om.max"
// VNNI: "om.round"
// VNNI: %[[CAST:.*]] = "om.cast"(%{{.*}}) {dtype = i8}
// VNNI: %[[X:.*]] = "om.reshape"(%[[CAST]],
// VNNI: "om.dequantized_linear"(%[[X]], %arg1, %arg2, %{{[0-9]+}})
// VNNI-SAME: rounds_x = false
// VNNI-SAME: (tensor<?x64xi8>, tensor<40x64xui8>, tensor<40x2xf32>, tensor<?x2xf32>) -> tensor<?x40xf32>
func.func @rounded(%x: tensor<?x64xf32>, %w: tensor<40x64xui8>, %s: tensor<40x2xf32>) -> tensor<?x40xf32> {
  %y = "om.dequantized_linear"(%x, %w, %s) {bits = 8 : i64, block_size = 32 : i64, rounds_x = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<?x64xf32>, tensor<40x64xui8>, tensor<40x2xf32>) -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}
