// RUN: onemlir-opt %s --om-bufferize | FileCheck %s

// A result whose size depends on data is returned in the buffer in which it was computed; the one that is returned twice is copied once.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[Y:.*]] : memref<?xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : memref<?xf32>) outs(%[[Z:.*]] : memref<?xf32>)
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: memref.copy %[[Y]], %[[COPY]]
// CHECK-NOT: memref.copy
// CHECK: return %[[Y]], %[[COPY]], %[[Z]]
#map = affine_map<(i) -> (i)>
func.func @main(%n: tensor<i64>) -> (tensor<?xf32> {om.data_dependent}, tensor<?xf32> {om.data_dependent}, tensor<?xf32> {om.data_dependent}) {
  %e = tensor.extract %n[] : tensor<i64>
  %size = arith.index_cast %e : i64 to index
  %one = arith.constant 1.0 : f32
  %a = tensor.empty(%size) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%a : tensor<?xf32>) {
    ^bb0(%o: f32):
      linalg.yield %one : f32 } -> tensor<?xf32>
  %b = tensor.empty(%size) : tensor<?xf32>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%y : tensor<?xf32>) outs(%b : tensor<?xf32>) {
    ^bb0(%i: f32, %o: f32):
      %t = arith.addf %i, %i : f32
      linalg.yield %t : f32 } -> tensor<?xf32>
  return %y, %y, %z : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
