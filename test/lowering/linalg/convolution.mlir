// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// A convolution of integers: zeros around the input, then windows by the map of the input; the bias is an elementwise op of its own.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 * 2 + d4 * 3)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK: %[[P:.*]] = tensor.insert_slice %arg0 into %{{.*}}[0, 0, 2] [1, 3, 11] [1, 1, 1] : tensor<1x3x11xi32> into tensor<1x3x14xi32>
// CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
// CHECK-SAME: ins(%[[P]], %arg1
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[B]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[S]], %arg2
func.func @main(%x: tensor<1x3x11xi32>, %w: tensor<4x3x3xi32>, %b: tensor<4xi32>) -> tensor<1x4x4xi32> {
  %y = "om.conv"(%x, %w, %b) {dilation = array<i64: 3>, groups = 1 : i64, padding = array<i64: 2, 1>, stride = array<i64: 2>} : (tensor<1x3x11xi32>, tensor<4x3x3xi32>, tensor<4xi32>) -> tensor<1x4x4xi32>
  return %y : tensor<1x4x4xi32>
}

// -----

// Groups are a loop of their own.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d3 + d5)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d2, d4, d5)>
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1, 2], [3]{{\]}} output_shape [1, 2, 2, 9]
// CHECK: tensor.expand_shape %arg1 {{\[\[}}0, 1], [2], [3]{{\]}} output_shape [2, 3, 2, 3]
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]{{\]}} : tensor<1x2x3x7xi32> into tensor<1x6x7xi32>
func.func @main(%x: tensor<1x4x9xi32>, %w: tensor<6x2x3xi32>) -> tensor<1x6x7xi32> {
  %y = "om.conv"(%x, %w) {dilation = array<i64: 1>, groups = 2 : i64, padding = array<i64: 0, 0>, stride = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x9xi32>, tensor<6x2x3xi32>) -> tensor<1x6x7xi32>
  return %y : tensor<1x6x7xi32>
}

// -----

// The transpose: x spread out by the stride, then a convolution with stride 1. Narrow integers wrap.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4)>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x11xi16>)
// CHECK: arith.floordivsi
// CHECK: scf.if
// CHECK: linalg.generic {indexing_maps = [#[[X]], {{.*}} outs(%{{.*}} : tensor<1x3x9xi16>)
func.func @main(%x: tensor<1x2x4xi16>, %w: tensor<2x3x3xi16>) -> tensor<1x3x9xi16> {
  %y = "om.conv_transpose"(%x, %w) {dilation = array<i64: 1>, groups = 1 : i64, padding = array<i64: 0, 0>, output_padding = array<i64: 0>, stride = array<i64: 2>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4xi16>, tensor<2x3x3xi16>) -> tensor<1x3x9xi16>
  return %y : tensor<1x3x9xi16>
}
// -----

// f16 is summed in f32; the filter keeps its type. Three axes, in the kernel's form.
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<1x2x4x5x6xf16>)
// CHECK: linalg.generic {{.*}}"pack_filter"{{.*}}
// CHECK: %[[Y:.*]] = linalg.generic {{.*}}"reduction", "reduction", "reduction", "reduction"]}
// CHECK-SAME: outs(%{{.*}} : tensor<1x3x5x3x3xf32>)
// CHECK-SAME: dilations = array<i64: 1, 1, 2>
// CHECK-SAME: kernel = array<i64: 3, 1, 2>
// CHECK-SAME: name = "conv", pads = array<i64: 1, 0, 0, 0, 0, 1>
// CHECK: tensor.extract %arg1{{.*}} : tensor<3x2x3x1x2xf16>
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @main(%x: tensor<1x2x4x5x6xf16>, %w: tensor<3x2x3x1x2xf16>) -> tensor<1x3x3x5x3xf16> {
  %y = "om.conv"(%x, %w) {dilation = array<i64: 1, 1, 2>, groups = 1 : i64, padding = array<i64: 1, 0, 0, 0, 0, 1>, stride = array<i64: 1, 1, 2>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x2x4x5x6xf16>, tensor<3x2x3x1x2xf16>) -> tensor<1x3x3x5x3xf16>
  return %y : tensor<1x3x3x5x3xf16>
}
