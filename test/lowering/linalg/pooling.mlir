// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// The padding of a maximum is below every number; a tensor of the kernel's size, never read, gives the window's loops.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: %[[P:.*]] = tensor.insert_slice %arg0 into %{{.*}}[0, 1] [2, 7] [1, 1] : tensor<2x7xf32> into tensor<2x9xf32>
// CHECK: %[[K1:.*]] = tensor.empty() : tensor<3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[K]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[P]], %[[K1]]
// CHECK: arith.maximumf
func.func @main(%x: tensor<2x7xf32>) -> tensor<2x4xf32> {
  %y = "om.max_pool"(%x) {kernel_size = array<i64: 3>, stride = array<i64: 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1>, ceil_mode = false} : (tensor<2x7xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A mean divides by the number of elements that are counted, which the place of the window tells.
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: linalg.index 1
// CHECK-COUNT-2: arith.ceildivsi
// CHECK: arith.divf
func.func @main(%x: tensor<2x7xf32>) -> tensor<2x4xf32> {
  %y = "om.avg_pool"(%x) {kernel_size = array<i64: 3>, stride = array<i64: 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1>, ceil_mode = false, count_include_pad = false, divisor} : (tensor<2x7xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// Values and places are folded together.
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<2x4xi8>, tensor<2x4xi64>)
// CHECK: arith.cmpi ugt, %{{.*}} : i8
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @main(%x: tensor<2x7xui8>) -> (tensor<2x4xui8>, tensor<2x4xi64>) {
  %y, %i = "om.max_pool_with_indices"(%x) {kernel_size = array<i64: 3>, stride = array<i64: 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1>, ceil_mode = false} : (tensor<2x7xui8>) -> (tensor<2x4xui8>, tensor<2x4xi64>)
  return %y, %i : tensor<2x4xui8>, tensor<2x4xi64>
}
