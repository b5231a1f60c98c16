// RUN: onemlir-opt %s --pass-pipeline='builtin.module(convert-func-to-llvm,reconcile-unrealized-casts)' | onemlir-translate --mlir-to-llvmir | FileCheck %s
// RUN: not onemlir-translate --mlir-to-llvmir %s 2>&1 | FileCheck %s --check-prefix=FOREIGN

// CHECK: define i32 @main(i32 %0)
// CHECK-NEXT: ret i32 %0
// FOREIGN: translate.mlir:7:1: error: 'func.func' op is not of the LLVM dialect, which alone can be translated
func.func @main(%x: i32) -> i32 {
  return %x : i32
}
