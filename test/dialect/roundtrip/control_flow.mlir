// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Ops of ours inside of upstream's control flow, and a symbol that is no identifier.

// CHECK-LABEL: func.func @"gr\C3\B6\C3\9Fe 2"(
// CHECK: scf.if
// CHECK-NEXT: %[[A:.*]] = "om.exp"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: scf.yield %[[A]]
// CHECK: scf.for
// CHECK-NEXT: "om.add"(%{{.*}}, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func @"größe 2"(%x: tensor<2xf32>, %p: tensor<i1>, %n: index) -> tensor<2xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  %0 = scf.if %c -> (tensor<2xf32>) {
    %1 = "om.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %0) -> (tensor<2xf32>) {
    %3 = "om.add"(%s, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    scf.yield %3 : tensor<2xf32>
  }
  return %2 : tensor<2xf32>
}
