// RUN: onemlir-opt %s --split-input-file --om-to-linalg --canonicalize --cse --om-fuse-elementwise --om-bufferize --om-plan-memory | FileCheck %s

// All intermediate values are in one arena.
// CHECK-LABEL: func.func @main
// CHECK-NOT: memref.alloc
// CHECK: llvm.call @om_arena
// CHECK-NOT: llvm.call @om_arena
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "om.matmul"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = "om.matmul"(%0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "om.matmul"(%1, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// Without intermediate values there is no arena.
// CHECK-LABEL: func.func @main
// CHECK-NOT: om_arena
// CHECK: return
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "om.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
