// RUN: onemlir-opt %s --om-dce --om-cse --mlir-print-ir-after-all 2>&1 >/dev/null | FileCheck %s --check-prefix=AFTER
// RUN: onemlir-opt %s --om-dce --om-cse --mlir-print-ir-before=om-cse 2>&1 >/dev/null | FileCheck %s --check-prefix=BEFORE
// RUN: onemlir-opt %s --om-dce --om-cse --mlir-print-ir-after-change 2>&1 >/dev/null | FileCheck %s --check-prefix=CHANGE

// AFTER: IR Dump After om-dce
// AFTER-NOT: om.exp
// AFTER: IR Dump After om-cse
// BEFORE-NOT: IR Dump Before om-dce
// BEFORE: IR Dump Before om-cse
// BEFORE-NEXT: module
// CHANGE: IR Dump After om-dce
// CHANGE-NOT: IR Dump After om-cse
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "om.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}
