// RUN: onemlir-opt %s --split-input-file --om-to-linalg --canonicalize --cse --om-fuse-elementwise --om-bufferize --om-plan-memory --om-linalg-to-loops --om-expand-math --om-to-llvm | FileCheck %s

// Nothing but the LLVM dialect is left; the entry takes one table and gives a status.
// CHECK-NOT: {{(func|scf|memref|arith|math|linalg)\.}}
// CHECK: llvm.func @entry(%{{.*}}: !llvm.ptr) -> i32
// CHECK-NOT: {{ (func|scf|memref|arith|math|linalg)\.}}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "om.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The body of a parallel loop is a function of a context and a range.
// CHECK: llvm.func internal @{{.*}}(%{{.*}}: !llvm.ptr{{.*}}, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.intr.sqrt
// CHECK: llvm.func @entry
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = "om.sqrt"(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
