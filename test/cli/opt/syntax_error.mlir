// RUN: not onemlir-opt %s 2>&1 | FileCheck %s

// The file, the line and the column.
// CHECK: syntax_error.mlir:[[#@LINE + 2]]:{{[0-9]+}}: error:
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %y : tensor<2xf32>
}
