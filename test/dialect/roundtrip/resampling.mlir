// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @resize(
// CHECK-NEXT: %0 = "om.resize"(%arg0) {antialias = false, coordinate_mode = "half_pixel", cubic_coeff_a = -7.500000e-01 : f64, exclude_outside = false, extrapolation_value = 0.000000e+00 : f64, mode = "nearest", nearest_mode = "round_prefer_floor", roi, scales, sizes = array<i64: 4, 4>} : (tensor<2x3xf32>) -> tensor<4x4xf32>
func.func @resize(%arg0: tensor<2x3xf32>) -> tensor<4x4xf32> {
  %0 = "om.resize"(%arg0) {antialias = false, coordinate_mode = "half_pixel", cubic_coeff_a = -7.500000e-01 : f64, exclude_outside = false, extrapolation_value = 0.000000e+00 : f64, mode = "nearest", nearest_mode = "round_prefer_floor", roi, scales, sizes = array<i64: 4, 4>} : (tensor<2x3xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @grid_sample(
// CHECK-NEXT: %0 = "om.grid_sample"(%arg0, %arg1) {align_corners = false, mode = "linear", padding_mode = "zeros"} : (tensor<1x1x3x3xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32>
func.func @grid_sample(%arg0: tensor<1x1x3x3xf32>, %arg1: tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %0 = "om.grid_sample"(%arg0, %arg1) {align_corners = false, mode = "linear", padding_mode = "zeros"} : (tensor<1x1x3x3xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %0 : tensor<1x1x2x2xf32>
}
