// RUN: not onemlir-opt %s --split-input-file 2>&1 | FileCheck %s
// RUN: not onemlir-opt %s --split-input-file='// ~~~~~' 2>&1 | FileCheck %s --check-prefix=MARKER

// An error in one section does not keep the others from being printed.
// CHECK-DAG: split.mlir:[[#@LINE + 13]]:8: error
// CHECK-DAG: func.func @first
// CHECK-DAG: func.func @last
// MARKER: redefinition of symbol named 'same'
func.func @first(%x: tensor<2xi32>) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}
func.func @same() { return }

// -----

func.func @same(%x: tensor<2xi32>) -> tensor<2xi32> {
  // The faulty one.
  %0 = "om.sqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

func.func @last() { return }
