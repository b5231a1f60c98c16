// RUN: onemlir-opt %s --split-input-file --om-fold | FileCheck %s

// A sum of literals.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.constant"() {value = dense<[2.000000e+00, 4.000000e+00]>
// CHECK-NEXT: return %[[R]]
func.func @main() -> tensor<2xf32> {
  %0 = "om.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %1 = "om.add"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// What depends on an input stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.add"
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "om.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// What depends on weights is for om-split-prepare.
// CHECK-LABEL: func.func @main
// CHECK: "om.add"
func.func @main() -> tensor<2xf32> {
  %0 = "om.parameter"() {name = "w"} : () -> tensor<2xf32>
  %1 = "om.add"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// Chains fold to the end.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.constant"() {value = dense<2.7182
// CHECK-NEXT: return %[[R]]
func.func @main() -> tensor<4xf32> {
  %c = "om.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.full"(%c) {shape = array<i64: 4>} : (tensor<f32>) -> tensor<4xf32>
  %1 = "om.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Large results are left to the compiled code.
// CHECK-LABEL: func.func @main
// CHECK: "om.full"
func.func @main() -> tensor<2000xf32> {
  %c = "om.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.full"(%c) {shape = array<i64: 2000>} : (tensor<f32>) -> tensor<2000xf32>
  return %0 : tensor<2000xf32>
}

// -----

// An index out of range is reported by the run, not by the compiler.
// CHECK-LABEL: func.func @main
// CHECK: "om.gather"
func.func @main() -> tensor<1xf32> {
  %c = "om.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %i = "om.constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "om.gather"(%c, %i) {axis = 0 : i64} : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// Floor division of integers, as numpy has it.
// CHECK-LABEL: func.func @main
// CHECK: dense<[3, -4]>
func.func @main() -> tensor<2xi32> {
  %c = "om.constant"() {value = dense<[7, -7]> : tensor<2xi32>} : () -> tensor<2xi32>
  %d = "om.constant"() {value = dense<2> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "om.floor_divide"(%c, %d) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

// Truth values.
// CHECK-LABEL: func.func @main
// CHECK: dense<[false, true, false]>
func.func @main() -> tensor<3xi1> {
  %c = "om.constant"() {value = dense<[true, false, true]> : tensor<3xi1>} : () -> tensor<3xi1>
  %0 = "om.logical_not"(%c) : (tensor<3xi1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// -----

// bf16.
// CHECK-LABEL: func.func @main
// CHECK: dense<[-1.000000e+00, -2.500000e+00]> : tensor<2xbf16>
func.func @main() -> tensor<2xbf16> {
  %c = "om.constant"() {value = dense<[1.0, 2.5]> : tensor<2xbf16>} : () -> tensor<2xbf16>
  %0 = "om.negative"(%c) : (tensor<2xbf16>) -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// -----

// Any op with a reference.
// CHECK-LABEL: func.func @main
// CHECK: dense<[0, 2, 1]> : tensor<3xi64>
func.func @main() -> tensor<3xi64> {
  %c = "om.constant"() {value = dense<[1.0, 3.0, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "om.argsort"(%c) {axis = 0 : i64, descending = false} : (tensor<3xf32>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

// Several results.
// CHECK-LABEL: func.func @main
// CHECK: %[[V:.*]] = "om.constant"() {value = dense<[3.000000e+00, 2.000000e+00]>
// CHECK-NEXT: %[[I:.*]] = "om.constant"() {value = dense<[1, 2]>
// CHECK-NEXT: return %[[V]], %[[I]]
func.func @main() -> (tensor<2xf32>, tensor<2xi64>) {
  %c = "om.constant"() {value = dense<[1.0, 3.0, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %v, %i = "om.topk"(%c) {k = array<i64: 2>, axis = 0 : i64, largest = true, sorted = true} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return %v, %i : tensor<2xf32>, tensor<2xi64>
}

// -----

// Inside a region.
// CHECK-LABEL: func.func @main
// CHECK: scf.if
// CHECK-NEXT: %{{.*}} = "om.constant"
func.func @main(%p: tensor<i1>) -> tensor<f32> {
  %c = "om.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %d = tensor.extract %p[] : tensor<i1>
  %0 = scf.if %d -> tensor<f32> {
    %1 = "om.exp"(%c) : (tensor<f32>) -> tensor<f32>
    scf.yield %1 : tensor<f32>
  } else {
    scf.yield %c : tensor<f32>
  }
  return %0 : tensor<f32>
}
