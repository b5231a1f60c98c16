// RUN: onemlir-opt %s --om-dce --cse --mlir-timing 2>&1 >/dev/null | FileCheck %s
// RUN: onemlir-opt %s --om-dce --cse --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=PIPELINE

// CHECK: Execution time report
// CHECK: Parser
// CHECK-NEXT: om-dce
// CHECK-NEXT: cse
// CHECK-NEXT: Output
// CHECK-NEXT: Total
// PIPELINE: builtin.module(om-dce,cse)
module {}
