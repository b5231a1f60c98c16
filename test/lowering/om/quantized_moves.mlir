// RUN: onemlir-opt %s --split-input-file --om-simplify --om-dce | FileCheck %s

// What only moves numbers moves integers, and what is quantized again as it was is not dequantized.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.reshape"(%arg0) {{.*}} -> tensor<4x3xui8>
// CHECK-NEXT: %[[T:.*]] = "om.transpose"(%[[R]]) {{.*}} -> tensor<3x4xui8>
// CHECK-NEXT: return %[[T]]
func.func @main(%q: tensor<3x4xui8>) -> tensor<3x4xui8> {
  %s = "om.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "om.constant"() {value = dense<7> : tensor<ui8>} : () -> tensor<ui8>
  %0 = "om.dequantize_linear"(%q, %s, %z) {axis = 0 : i64, block_size = 0 : i64} : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xf32>
  %1 = "om.reshape"(%0) {shape = array<i64: 4, 3>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %2 = "om.transpose"(%1) {axes = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %3 = "om.quantize_linear"(%2, %s, %z) {axis = 1 : i64, block_size = 0 : i64, dtype = ui8} : (tensor<3x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8>
  return %3 : tensor<3x4xui8>
}

// -----

// The largest of integers is the integer of the largest number, where the scale is known to be positive.
// CHECK-LABEL: func.func @main
// CHECK: "om.max_pool"(%arg0) {{.*}} -> tensor<1x2x2x2xi8>
// CHECK: "om.max_pool"({{.*}} -> tensor<1x2x2x2xf32>
func.func @main(%q: tensor<1x2x4x4xi8>, %a: tensor<f32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %s = "om.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.dequantize_linear"(%q, %s) {axis = 0 : i64, block_size = 0 : i64} : (tensor<1x2x4x4xi8>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %1 = "om.max_pool"(%0) {ceil_mode = false, dilation = array<i64: 1, 1>, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %2 = "om.dequantize_linear"(%q, %a) {axis = 0 : i64, block_size = 0 : i64} : (tensor<1x2x4x4xi8>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %3 = "om.max_pool"(%2) {ceil_mode = false, dilation = array<i64: 1, 1>, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return %1, %3 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

// -----

// Another scale: the numbers are quantized anew. A scale for each column does not move with a transpose.
// CHECK-LABEL: func.func @main
// CHECK: "om.quantize_linear"
// CHECK: "om.transpose"({{.*}} -> tensor<4x3xf32>
func.func @main(%q: tensor<3x4xui8>, %c: tensor<4xf32>) -> (tensor<3x4xui8>, tensor<4x3xf32>) {
  %s = "om.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "om.constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.dequantize_linear"(%q, %s) {axis = 0 : i64, block_size = 0 : i64} : (tensor<3x4xui8>, tensor<f32>) -> tensor<3x4xf32>
  %1 = "om.quantize_linear"(%0, %t) {axis = 1 : i64, block_size = 0 : i64, dtype = ui8} : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xui8>
  %2 = "om.dequantize_linear"(%q, %c) {axis = 1 : i64, block_size = 0 : i64} : (tensor<3x4xui8>, tensor<4xf32>) -> tensor<3x4xf32>
  %3 = "om.transpose"(%2) {axes = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %1, %3 : tensor<3x4xui8>, tensor<4x3xf32>
}
