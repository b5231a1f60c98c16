// RUN: onemlir-opt %s --split-input-file --om-to-linalg --canonicalize --cse --om-fuse-elementwise --om-bufferize --om-fuse-rows | FileCheck %s

// Softmax is one loop over blocks of rows; what it keeps between its steps is a block of each.
// CHECK-LABEL: func.func @main
// CHECK-NOT: linalg.generic
// CHECK: scf.parallel
// CHECK-DAG: memref.alloc() : memref<16x100xf32>
// CHECK: memref.subview %arg0[{{.*}}] [1, 16, 100]
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: memref.subview %arg2[{{.*}}] [1, 16, 100]
// CHECK: scf.reduce
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @main(%x: tensor<3x64x100xf32>) -> tensor<3x64x100xf32> {
  %0 = "om.softmax"(%x) {axis = 2 : i64} : (tensor<3x64x100xf32>) -> tensor<3x64x100xf32>
  return %0 : tensor<3x64x100xf32>
}

// -----

// Columns are no rows: their sum reads all of them.
// CHECK-LABEL: func.func @main
// CHECK-NOT: scf.parallel
// CHECK: return
func.func @main(%x: tensor<64x100xf32>) -> tensor<64x100xf32> {
  %0 = "om.softmax"(%x) {axis = 0 : i64} : (tensor<64x100xf32>) -> tensor<64x100xf32>
  return %0 : tensor<64x100xf32>
}
