// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @full(
// CHECK-NEXT: %0 = "om.full"(%arg0) {shape = array<i64: 3, 2>} : (tensor<f32>) -> tensor<3x2xf32>
func.func @full(%arg0: tensor<f32>) -> tensor<3x2xf32> {
  %0 = "om.full"(%arg0) {shape = array<i64: 3, 2>} : (tensor<f32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @constant(
// CHECK-NEXT: %0 = "om.constant"() {value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>} : () -> tensor<2xf32>
// CHECK-NEXT: %1 = "om.add"(%arg0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func @constant(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "om.constant"() {value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>} : () -> tensor<2xf32>
  %1 = "om.add"(%arg0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @constant_integer(
// CHECK-NEXT: %0 = "om.constant"() {value = dense<{{\[\[}}1], [-2]]> : tensor<2x1xi8>} : () -> tensor<2x1xi8>
// CHECK-NEXT: %1 = "om.add"(%arg0, %0) : (tensor<2x1xi8>, tensor<2x1xi8>) -> tensor<2x1xi8>
func.func @constant_integer(%arg0: tensor<2x1xi8>) -> tensor<2x1xi8> {
  %0 = "om.constant"() {value = dense<[[1], [-2]]> : tensor<2x1xi8>} : () -> tensor<2x1xi8>
  %1 = "om.add"(%arg0, %0) : (tensor<2x1xi8>, tensor<2x1xi8>) -> tensor<2x1xi8>
  return %1 : tensor<2x1xi8>
}

// CHECK-LABEL: func.func @constant_bool(
// CHECK-NEXT: %0 = "om.constant"() {value = dense<[true, false]> : tensor<2xi1>} : () -> tensor<2xi1>
// CHECK-NEXT: %1 = "om.bitwise_and"(%arg0, %0) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
func.func @constant_bool(%arg0: tensor<2xi1>) -> tensor<2xi1> {
  %0 = "om.constant"() {value = dense<[true, false]> : tensor<2xi1>} : () -> tensor<2xi1>
  %1 = "om.bitwise_and"(%arg0, %0) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return %1 : tensor<2xi1>
}

// CHECK-LABEL: func.func @parameter(
// CHECK-NEXT: %0 = "om.parameter"() {name = "weight"} : () -> tensor<3x2xf32>
// CHECK-NEXT: %1 = "om.parameter"() {name = "bias"} : () -> tensor<3xf32>
// CHECK-NEXT: %2 = "om.linear"(%arg0, %0, %1) : (tensor<1x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<1x3xf32>
func.func @parameter(%arg0: tensor<1x2xf32>) -> tensor<1x3xf32> {
  %0 = "om.parameter"() {name = "weight"} : () -> tensor<3x2xf32>
  %1 = "om.parameter"() {name = "bias"} : () -> tensor<3xf32>
  %2 = "om.linear"(%arg0, %0, %1) : (tensor<1x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  return %2 : tensor<1x3xf32>
}

// CHECK-LABEL: func.func @iota(
// CHECK-NEXT: %0 = "om.dim"(%arg0) {axis = 0 : i64} : (tensor<?xf32>) -> index
// CHECK-NEXT: %1 = "om.iota"(%0) {dtype = i64, size = array<i64: -1>} : (index) -> tensor<?xi64>
// CHECK-NEXT: %2 = "om.cast"(%1) {dtype = f32} : (tensor<?xi64>) -> tensor<?xf32>
// CHECK-NEXT: %3 = "om.add"(%arg0, %2) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
func.func @iota(%arg0: tensor<?xf32> {om.dims = ["n"], om.name = "input"}) -> tensor<?xf32> {
  %0 = "om.dim"(%arg0) {axis = 0 : i64} : (tensor<?xf32>) -> index
  %1 = "om.iota"(%0) {dtype = i64, size = array<i64: -1>} : (index) -> tensor<?xi64>
  %2 = "om.cast"(%1) {dtype = f32} : (tensor<?xi64>) -> tensor<?xf32>
  %3 = "om.add"(%arg0, %2) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
