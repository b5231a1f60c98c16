// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// Unsigned integers are signless here: the op is chosen by the dtype.
// CHECK: arith.maxui %{{.*}} : i8
func.func @main(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %z = "om.maximum"(%x, %y) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %z : tensor<4xui8>
}

// -----

// Broadcasting is in the maps.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
func.func @main(%x: tensor<4x1xf32>, %y: tensor<3xf32>) -> tensor<4x3xf32> {
  %z = "om.add"(%x, %y) : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %z : tensor<4x3xf32>
}

// -----

// bf16 is computed in f32.
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %z = "om.exp"(%x) : (tensor<4xbf16>) -> tensor<4xbf16>
  return %z : tensor<4xbf16>
}

// -----

// Integer division never traps.
// CHECK: arith.select
// CHECK: arith.divsi
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %z = "om.floor_divide"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %z : tensor<4xi32>
}
