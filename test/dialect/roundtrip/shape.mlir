// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @reshape(
// CHECK-NEXT: %0 = "om.reshape"(%arg0) {shape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
func.func @reshape(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "om.reshape"(%arg0) {shape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK-NEXT: %0 = "om.transpose"(%arg0) {axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
func.func @transpose(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "om.transpose"(%arg0) {axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @broadcast_to(
// CHECK-NEXT: %0 = "om.broadcast_to"(%arg0) {shape = array<i64: 3, 2>} : (tensor<f32>) -> tensor<3x2xf32>
func.func @broadcast_to(%arg0: tensor<f32>) -> tensor<3x2xf32> {
  %0 = "om.broadcast_to"(%arg0) {shape = array<i64: 3, 2>} : (tensor<f32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT: %0 = "om.slice"(%arg0) {shape = array<i64: 3, 2>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<3x2xf32>
func.func @slice(%arg0: tensor<8x2xf32>) -> tensor<3x2xf32> {
  %0 = "om.slice"(%arg0) {shape = array<i64: 3, 2>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @pad_constant(
// CHECK-NEXT: %0 = "om.pad_constant"(%arg0, %arg1) {high = array<i64: 1>, low = array<i64: 1>} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
func.func @pad_constant(%arg0: tensor<3xf32>, %arg1: tensor<f32>) -> tensor<5xf32> {
  %0 = "om.pad_constant"(%arg0, %arg1) {high = array<i64: 1>, low = array<i64: 1>} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-NEXT: %0 = "om.pad"(%arg0) {high = array<i64: 1>, low = array<i64: 1>, mode = "constant", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<3xf32>) -> tensor<5xf32>
func.func @pad(%arg0: tensor<3xf32>) -> tensor<5xf32> {
  %0 = "om.pad"(%arg0) {high = array<i64: 1>, low = array<i64: 1>, mode = "constant", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @symbolic_reshape(
// CHECK-NEXT: %0 = "om.dim"(%arg0) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %1 = arith.muli %0, %c2 : index
// CHECK-NEXT: %2 = "om.reshape"(%arg0, %1) {shape = array<i64: -1, 2>} : (tensor<?x4xf32>, index) -> tensor<?x2xf32>
func.func @symbolic_reshape(%arg0: tensor<?x4xf32> {om.dims = ["batch", ""], om.name = "input"}) -> tensor<?x2xf32> {
  %0 = "om.dim"(%arg0) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
  %c2 = arith.constant 2 : index
  %1 = arith.muli %0, %c2 : index
  %2 = "om.reshape"(%arg0, %1) {shape = array<i64: -1, 2>} : (tensor<?x4xf32>, index) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @symbolic_names(
// CHECK-NEXT: %0 = "om.dim"(%arg1) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
// CHECK-NEXT: %1 = "om.dim"(%arg0) {axis = 1 : i64} : (tensor<1x?xf32>) -> index
// CHECK-NEXT: %2 = "om.broadcast_to"(%arg0, %0, %1) {shape = array<i64: -1, -1>} : (tensor<1x?xf32>, index, index) -> tensor<?x?xf32>
func.func @symbolic_names(%arg0: tensor<1x?xf32> {om.dims = ["", "gr\C3\B6\C3\9Fe"], om.name = "x"}, %arg1: tensor<?x4xf32> {om.dims = ["n", ""], om.name = "y"}) -> tensor<?x?xf32> {
  %0 = "om.dim"(%arg1) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
  %1 = "om.dim"(%arg0) {axis = 1 : i64} : (tensor<1x?xf32>) -> index
  %2 = "om.broadcast_to"(%arg0, %0, %1) {shape = array<i64: -1, -1>} : (tensor<1x?xf32>, index, index) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK-NEXT: %concat = tensor.concat dim(0) %arg0, %arg1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
func.func @concat(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3xf32>) -> tensor<6x3xf32> {
  %concat = tensor.concat dim(0) %arg0, %arg1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  return %concat : tensor<6x3xf32>
}
