// RUN: not onemlir-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s

// An expectation that is not met.
// CHECK: diagnostics.mlir:[[#@LINE + 1]]:58: error: expected error "does not happen" was not produced
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { // expected-error {{does not happen}}
  return %x : tensor<2xf32>
}

// -----

// An error that is not expected, with its place in the whole file.
// CHECK: diagnostics.mlir:[[#@LINE + 2]]:8: error: unexpected error: 'om.sqrt' op sqrt: 'x' must have a floating dtype
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = "om.sqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

// Above, below, by a pattern, and twice on one line are met.
// CHECK-NOT: diagnostics.mlir
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = "om.sqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  // expected-error-re@above {{must have a {{f[a-z]+}} dtype}}
  // expected-error@below {{must have a floating dtype, found int32}}
  %1 = "om.exp"(%0) : (tensor<2xi32>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}
