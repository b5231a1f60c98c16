// RUN: onemlir-opt %s --split-input-file --om-to-linalg | FileCheck %s

// A merge sort of positions for each lane, its runs doubling in a scf.while.
// CHECK: scf.for
// CHECK: scf.while
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (index, index)
// CHECK: arith.cmpf olt
// CHECK: arith.cmpf uno
func.func @main(%x: tensor<2x9xf32>) -> tensor<2x9xi64> {
  %y = "om.argsort"(%x) {axis = 1 : i64, descending = false} : (tensor<2x9xf32>) -> tensor<2x9xi64>
  return %y : tensor<2x9xi64>
}

// -----

// What is found is counted first, then allocated exactly; the result is marked, for its size depends on the data.
// CHECK: func.func @main({{.*}}) -> (tensor<2x?xi64> {om.data_dependent})
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]
// CHECK: %[[N:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: memref.alloc(%[[N]]) : memref<2x?xi64>
func.func @main(%x: tensor<4x5xf32>) -> tensor<2x?xi64> {
  %y = "om.nonzero"(%x) : (tensor<4x5xf32>) -> tensor<2x?xi64>
  return %y : tensor<2x?xi64>
}
