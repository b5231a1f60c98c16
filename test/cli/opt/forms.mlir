// RUN: onemlir-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: onemlir-opt %s --mlir-print-op-generic | onemlir-opt | FileCheck %s
// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt | FileCheck %s
// RUN: onemlir-opt %s --emit-bytecode -o %t && onemlir-opt %t | FileCheck %s
// RUN: onemlir-opt %s --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=ELIDED
// RUN: onemlir-opt %s --mlir-disable-threading --mlir-print-skip-regions | FileCheck %s --check-prefix=SKIPPED

// SKIPPED: module {...}
// GENERIC: "func.func"() <{
// CHECK: func.func @main(%arg0: tensor<?x3xf32> {om.dims = ["batch", ""], om.name = "input"})
// CHECK: dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// ELIDED: dense_resource<__elided__>
func.func @main(%x: tensor<?x3xf32> {om.name = "input", om.dims = ["batch", ""]}) -> tensor<?x3xf32> {
  %0 = "om.constant"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %1 = "om.add"(%x, %0) : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
