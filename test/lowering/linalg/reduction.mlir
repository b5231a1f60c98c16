// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// f16 is summed in f32 and rounded once; the order of the sum may change.
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.addf %{{.*}} fastmath<reassoc,contract> : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @main(%x: tensor<4x5xf16>) -> tensor<4xf16> {
  %y = "om.sum"(%x) {axis = array<i64: 1>, keepdims = false} : (tensor<4x5xf16>) -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// -----

// The position of an extreme is folded with the element; an axis that may be empty is checked.
// CHECK: om.messages = {{\[\[}}"ShapeError", "argmin over axis 0, which is empty: there is no result"]]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]{{.*}} outs(%{{.*}}, %{{.*}} : tensor<3xi8>, tensor<3xi64>)
// CHECK: arith.cmpi ult
func.func @main(%x: tensor<?x3xui8> {om.dims = ["n", ""]}) -> tensor<3xi64> {
  %y = "om.argmin"(%x) {axis = 0 : i64, keepdims = false} : (tensor<?x3xui8>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}

// -----

// A running sum carries the total along each lane.
// CHECK: scf.for
// CHECK: scf.for %{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (i64)
// CHECK: arith.extui %{{.*}} : i8 to i64
// CHECK: memref.store %[[T]]
func.func @main(%x: tensor<2x3xui8>) -> tensor<2x3xui64> {
  %y = "om.cumsum"(%x) {axis = 1 : i64, exclusive = true, reverse = false} : (tensor<2x3xui8>) -> tensor<2x3xui64>
  return %y : tensor<2x3xui64>
}

// -----

// The largest of all elements is that of the rows' largest, which threads find.
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]
// CHECK: arith.maximumf
func.func @main(%x: tensor<64x512xf32>) -> tensor<f32> {
  %0 = "om.max"(%x) {axis = array<i64: 0, 1>, keepdims = false} : (tensor<64x512xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
