// RUN: onemlir-opt %s --affine-loop-normalize --affine-loop-unroll=unroll-factor=2 | FileCheck %s
// RUN: not onemlir-opt %s --pass-pipeline='gpu.module(affine-loop-normalize)' 2>&1 | FileCheck %s --check-prefix=WRONG

// Passes that work on functions are nested in them: one is restricted to func.func, the other to anything like it.
// CHECK-NOT: affine.for
// CHECK-COUNT-2: memref.store
// WRONG: restricted to 'func.func'
func.func @f(%m: memref<8xf32>, %v: f32) {
  affine.for %i = 2 to 6 step 2 {
    memref.store %v, %m[%i] : memref<8xf32>
  }
  return
}
