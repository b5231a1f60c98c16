// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @gather(
// CHECK-NEXT: %0 = "om.gather"(%arg0, %arg1) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3x3xf32>
func.func @gather(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi64>) -> tensor<2x3x3xf32> {
  %0 = "om.gather"(%arg0, %arg1) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3x3xf32>
  return %0 : tensor<2x3x3xf32>
}

// CHECK-LABEL: func.func @take_along_axis(
// CHECK-NEXT: %0 = "om.take_along_axis"(%arg0, %arg1) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
func.func @take_along_axis(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %0 = "om.take_along_axis"(%arg0, %arg1) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @scatter(
// CHECK-NEXT: %0 = "om.scatter"(%arg0, %arg1, %arg2) {axis = 0 : i64, reduction = "none"} : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @scatter(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi64>, %arg2: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.scatter"(%arg0, %arg1, %arg2) {axis = 0 : i64, reduction = "none"} : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gather_nd(
// CHECK-NEXT: %0 = "om.gather_nd"(%arg0, %arg1) {batch_dims = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xi64>) -> tensor<2xf32>
func.func @gather_nd(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xi64>) -> tensor<2xf32> {
  %0 = "om.gather_nd"(%arg0, %arg1) {batch_dims = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @scatter_nd(
// CHECK-NEXT: %0 = "om.scatter_nd"(%arg0, %arg1, %arg2) {reduction = "none"} : (tensor<4x3x3x3xf32>, tensor<4x3x3x3xi64>, tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32>
func.func @scatter_nd(%arg0: tensor<4x3x3x3xf32>, %arg1: tensor<4x3x3x3xi64>, %arg2: tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32> {
  %0 = "om.scatter_nd"(%arg0, %arg1, %arg2) {reduction = "none"} : (tensor<4x3x3x3xf32>, tensor<4x3x3x3xi64>, tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32>
  return %0 : tensor<4x3x3x3xf32>
}

// CHECK-LABEL: func.func @dynamic_slice(
// CHECK-NEXT: %0 = "om.dynamic_slice"(%arg0, %arg1) {shape = array<i64: 1>} : (tensor<1xf32>, tensor<1xi64>) -> tensor<1xf32>
func.func @dynamic_slice(%arg0: tensor<1xf32>, %arg1: tensor<1xi64>) -> tensor<1xf32> {
  %0 = "om.dynamic_slice"(%arg0, %arg1) {shape = array<i64: 1>} : (tensor<1xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// CHECK-LABEL: func.func @dynamic_update(
// CHECK-NEXT: %0 = "om.dynamic_update"(%arg0, %arg1, %arg2) : (tensor<1xf32>, tensor<1xf32>, tensor<1xi64>) -> tensor<1xf32>
func.func @dynamic_update(%arg0: tensor<1xf32>, %arg1: tensor<1xf32>, %arg2: tensor<1xi64>) -> tensor<1xf32> {
  %0 = "om.dynamic_update"(%arg0, %arg1, %arg2) : (tensor<1xf32>, tensor<1xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// CHECK-LABEL: func.func @slice_update(
// CHECK-NEXT: %0 = "om.slice_update"(%arg0, %arg1) {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @slice_update(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.slice_update"(%arg0, %arg1) {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @append_rows(
// CHECK-NEXT: %0 = "om.append_rows"(%arg0, %arg1, %arg2) {size = array<i64: 3>} : (tensor<1x2x2x4xf32>, tensor<1x2x1x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
func.func @append_rows(%arg0: tensor<1x2x2x4xf32>, %arg1: tensor<1x2x1x4xf32>, %arg2: tensor<1xi64>) -> tensor<1x2x3x4xf32> {
  %0 = "om.append_rows"(%arg0, %arg1, %arg2) {size = array<i64: 3>} : (tensor<1x2x2x4xf32>, tensor<1x2x1x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
}
