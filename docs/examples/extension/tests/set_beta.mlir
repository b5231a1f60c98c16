// RUN: onemlir-opt %s --swiglu-set-beta="beta=2" | FileCheck %s
// RUN: onemlir-opt %s --swiglu-set-beta="beta=2" --om-decompose | FileCheck %s --check-prefix=CORE
// RUN: onemlir-opt --help | FileCheck %s --check-prefix=HELP

// CHECK: "swiglu.gate"(%arg0, %arg0) {beta = 2.000000e+00 : f64}
// CORE-NOT: swiglu.gate
// CORE: "om.sigmoid"
// HELP: Passes of extensions:
// HELP-NEXT: --swiglu-set-beta Set beta of every swiglu.gate, when it is not 1. [beta=1.0]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "swiglu.gate"(%x, %x) {beta = 1.0 : f64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
