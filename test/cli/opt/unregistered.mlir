// RUN: not onemlir-opt %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: onemlir-opt %s --allow-unregistered-dialect | FileCheck %s

// REFUSED: unregistered.mlir:[[#@LINE + 3]]:{{[0-9]+}}: error:
// CHECK: "foreign.op"
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "foreign.op"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
