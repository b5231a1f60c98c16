// RUN: onemlir-opt %s --transform-interpreter --verify-diagnostics
// RUN: onemlir-opt %s --transform-interpreter 2>&1 | FileCheck %s --check-prefix=PRINTED
// RUN: not onemlir-opt %s --canonicalize --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=MISSING

// What a pass remarks is shown with its place, and can be expected.
// PRINTED: remarks.mlir:[[#@LINE + 4]]:3: remark: here
// MISSING: remarks.mlir:[[#@LINE + 2]]:6: error: expected remark "here" was not produced
func.func @f() {
  // expected-remark @below {{here}}
  func.call @f() : () -> ()
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %0 = transform.structured.match ops{["func.call"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.debug.emit_remark_at %0, "here" : !transform.any_op
    transform.yield
  }
}
