// RUN: onemlir-opt %s --split-input-file --om-simplify --om-dce | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "swiglu.gate"(%arg0, %arg1) {beta = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>, %g: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.silu"(%g) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.multiply"(%x, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// silu(g) is used twice.
// CHECK-LABEL: func.func @main
// CHECK: "om.silu"
// CHECK-NOT: swiglu.gate
func.func @main(%x: tensor<2x3xf32>, %g: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "om.silu"(%g) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.multiply"(%x, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
