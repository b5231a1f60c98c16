// RUN: onemlir-opt %s --pass-pipeline='builtin.module(om-fold{max-elements=4},om-dce,func.func(cse))' | FileCheck %s
// RUN: onemlir-opt %s --om-fold="max-elements=4" --om-dce --cse | FileCheck %s
// RUN: onemlir-opt %s --pass-pipeline='om-fold{max-elements=1},om-dce' | FileCheck %s --check-prefix=SMALL
// RUN: cat %s | onemlir-opt --om-fold --om-dce - | FileCheck %s
// RUN: onemlir-opt %s --om-fold --om-dce -o %t && FileCheck %s --input-file=%t

// Passes of ours and upstream's in one pipeline, with options, from a file and from standard input.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.constant"() {value = dense<[2.000000e+00, 4.000000e+00]>
// CHECK-NEXT: return %[[R]]
// SMALL: "om.add"
func.func @main() -> tensor<2xf32> {
  %0 = "om.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %1 = "om.add"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
