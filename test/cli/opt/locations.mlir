// RUN: onemlir-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=FULL
// RUN: onemlir-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL
// RUN: onemlir-opt %s --mlir-print-debuginfo | onemlir-opt --mlir-print-debuginfo | FileCheck %s --check-prefix=FULL
// RUN: onemlir-opt %s | FileCheck %s --check-prefix=NONE

// FULL: "om.exp"(%arg0) : (tensor<2xf32>) -> tensor<2xf32> loc(#[[L:.*]])
// FULL: #[[L]] = loc("layers.0"
// LOCAL: loc("layers.0"("model.py":3:5))
// NONE-NOT: loc(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "om.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("layers.0"("model.py":3:5))
  return %0 : tensor<2xf32>
}
