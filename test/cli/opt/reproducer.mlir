// RUN: not onemlir-opt %s --om-dce --om-to-linalg --cse --mlir-pass-pipeline-crash-reproducer=%t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t
// RUN: not onemlir-opt --run-reproducer %t 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not onemlir-opt --run-reproducer %s 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: has no function @main with a body
// CHECK: run again with: onemlir-opt --run-reproducer
// FILE: // configuration: --pass-pipeline='builtin.module(om-dce,om-to-linalg)'
// FILE: func.func @other
// AGAIN: has no function @main with a body
// NONE: the first line must be // configuration:
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
