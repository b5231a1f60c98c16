// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @guard(
// CHECK-NEXT: "om.guard"(%arg0) {kind = "GuardError", message = "x must be positive", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xi1>) -> ()
func.func @guard(%arg0: tensor<2x3xi1>) {
  "om.guard"(%arg0) {kind = "GuardError", message = "x must be positive", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xi1>) -> ()
  return
}
