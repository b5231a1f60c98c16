// RUN: onemlir-opt %s --split-input-file --om-simplify | FileCheck %s

// A transpose to the order there is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Two transposes that undo each other: the first is left for om-dce.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: "om.transpose"(%arg0)
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "om.transpose"(%0) {axes = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Two transposes are one.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.transpose"(%arg0) {axes = array<i64: 1, 2, 0>}
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = "om.transpose"(%0) {axes = array<i64: 2, 0, 1>} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  return %1 : tensor<3x4x2xf32>
}

// -----

// One transpose stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.transpose"
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// A reshape to the shape there is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.reshape"(%x) {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Two reshapes are the last.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.reshape"(%arg0) {shape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "om.reshape"(%x) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = "om.reshape"(%0) {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// One open axis: the number of elements tells it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: om.reshape
// CHECK: return %arg0
func.func @main(%x: tensor<?x4xf32> {om.dims = ["batch", ""]}) -> tensor<?x4xf32> {
  %n = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x4xf32>) -> index
  %0 = "om.reshape"(%x, %n) {shape = array<i64: -1, 4>} : (tensor<?x4xf32>, index) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Two open axes: types alone do not tell that (a, b) is (b, a).
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.reshape"
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<?x?xf32> {om.dims = ["a", "b"]}) -> tensor<?x?xf32> {
  %n = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x?xf32>) -> index
  %m = "om.dim"(%x) {axis = 1 : i64} : (tensor<?x?xf32>) -> index
  %0 = "om.reshape"(%x, %m, %n) {shape = array<i64: -1, -1>} : (tensor<?x?xf32>, index, index) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// With an axis of size 0 the number of elements tells nothing.
// CHECK-LABEL: func.func @main
// CHECK: "om.reshape"
func.func @main(%x: tensor<?x0xf32> {om.dims = ["a", ""]}) -> tensor<?x0xf32> {
  %n = "om.dim"(%x) {axis = 0 : i64} : (tensor<?x0xf32>) -> index
  %0 = "om.reshape"(%x, %n) {shape = array<i64: -1, 0>} : (tensor<?x0xf32>, index) -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}

// -----

// A broadcast to the shape there is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.broadcast_to"(%x) {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A new axis is no identity.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.broadcast_to"
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<1x2x3xf32> {
  %0 = "om.broadcast_to"(%x) {shape = array<i64: 1, 2, 3>} : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return %0 : tensor<1x2x3xf32>
}

// -----

// A slice of everything.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.slice"(%x) {starts = array<i64: 0, 0>, shape = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Everything backwards is another tensor.
// CHECK-LABEL: func.func @main
// CHECK: "om.slice"
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.slice"(%x) {starts = array<i64: 1, 0>, shape = array<i64: 2, 3>, steps = array<i64: -1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A concatenation of one.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tensor.concat"(%x) {dim = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A concatenation of a tensor with itself is no identity.
// CHECK-LABEL: func.func @main
// CHECK: tensor.concat
func.func @main(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %0 = "tensor.concat"(%x, %x) {dim = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Padding by nothing.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<2x3xf32> {
  %0 = "om.pad_constant"(%x, %v) {low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Padding at one end.
// CHECK-LABEL: func.func @main
// CHECK: "om.pad_constant"
func.func @main(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<2x4xf32> {
  %0 = "om.pad_constant"(%x, %v) {low = array<i64: 0, 0>, high = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// A cast to the dtype there is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.cast"(%x) {dtype = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// f64 holds every f32.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.cast"(%x) {dtype = f64} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  %1 = "om.cast"(%0) {dtype = f32} : (tensor<2x3xf64>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// f32 holds every f16.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %0 = "om.cast"(%x) {dtype = f32} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %1 = "om.cast"(%0) {dtype = f16} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return %1 : tensor<2x3xf16>
}

// -----

// i64 holds every i32.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %0 = "om.cast"(%x) {dtype = i64} : (tensor<2x3xi32>) -> tensor<2x3xi64>
  %1 = "om.cast"(%0) {dtype = i32} : (tensor<2x3xi64>) -> tensor<2x3xi32>
  return %1 : tensor<2x3xi32>
}

// -----

// i64 holds every ui32.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xui32>) -> tensor<2x3xui32> {
  %0 = "om.cast"(%x) {dtype = i64} : (tensor<2x3xui32>) -> tensor<2x3xi64>
  %1 = "om.cast"(%0) {dtype = ui32} : (tensor<2x3xi64>) -> tensor<2x3xui32>
  return %1 : tensor<2x3xui32>
}

// -----

// f32 does not hold every f64.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.cast"(%{{[0-9]+}})
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = "om.cast"(%x) {dtype = f32} : (tensor<2x3xf64>) -> tensor<2x3xf32>
  %1 = "om.cast"(%0) {dtype = f64} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return %1 : tensor<2x3xf64>
}

// -----

// f16 does not hold the range of bf16.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.cast"(%{{[0-9]+}})
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
  %0 = "om.cast"(%x) {dtype = f16} : (tensor<2x3xbf16>) -> tensor<2x3xf16>
  %1 = "om.cast"(%0) {dtype = bf16} : (tensor<2x3xf16>) -> tensor<2x3xbf16>
  return %1 : tensor<2x3xbf16>
}

// -----

// f64 does not hold every i64.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.cast"(%{{[0-9]+}})
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %0 = "om.cast"(%x) {dtype = f64} : (tensor<2x3xi64>) -> tensor<2x3xf64>
  %1 = "om.cast"(%0) {dtype = i64} : (tensor<2x3xf64>) -> tensor<2x3xi64>
  return %1 : tensor<2x3xi64>
}

// -----

// ui32 holds no negative number.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = "om.cast"(%{{[0-9]+}})
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %0 = "om.cast"(%x) {dtype = ui32} : (tensor<2x3xi64>) -> tensor<2x3xui32>
  %1 = "om.cast"(%0) {dtype = i64} : (tensor<2x3xui32>) -> tensor<2x3xi64>
  return %1 : tensor<2x3xi64>
}

// -----

// The negative of the negative.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.negative"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.negative"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Not not.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<3xi1>) -> tensor<3xi1> {
  %0 = "om.logical_not"(%x) : (tensor<3xi1>) -> tensor<3xi1>
  %1 = "om.logical_not"(%0) : (tensor<3xi1>) -> tensor<3xi1>
  return %1 : tensor<3xi1>
}

// -----

// Three negatives are one (the first is left for om-dce).
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %{{.*}} = "om.negative"(%arg0)
// CHECK-NEXT: %[[R:.*]] = "om.negative"(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.negative"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.negative"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "om.negative"(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// Twice is once.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = "om.relu"(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.relu"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// exp twice is not exp once.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: "om.exp"
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "om.exp"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Times one.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "om.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.multiply"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// One times.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "om.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.multiply"(%c, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Times ones of a larger shape: a broadcast.
// CHECK-LABEL: func.func @main
// CHECK: "om.multiply"
func.func @main(%x: tensor<f32>) -> tensor<2x3xf32> {
  %c = "om.constant"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %0 = "om.multiply"(%x, %c) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// One divided by is no identity.
// CHECK-LABEL: func.func @main
// CHECK: "om.divide"
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "om.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.divide"(%c, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Minus zero.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "om.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.subtract"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// -0.0 - -0.0 is 0.0.
// CHECK-LABEL: func.func @main
// CHECK: "om.subtract"
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "om.constant"() {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.subtract"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// -0.0 + 0.0 is 0.0.
// CHECK-LABEL: func.func @main
// CHECK: "om.add"
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "om.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "om.add"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Integers have one zero.
// CHECK-LABEL: func.func @main
// CHECK: return %arg0
func.func @main(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %c = "om.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "om.add"(%x, %c) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// -----

// A dense block: each layer joins what the one before has joined, and one more. Another axis, or another order, is no such prefix.
// CHECK-LABEL: func.func @dense
// CHECK: %[[A:.*]] = tensor.concat dim(1) %arg0, %arg1
// CHECK: %[[B:.*]] = tensor.concat dim(1) %[[A]], %arg2
// CHECK: %[[C:.*]] = tensor.concat dim(1) %[[B]], %arg0
// CHECK: %[[D:.*]] = tensor.concat dim(0) %arg0, %arg1, %arg2
// CHECK: %[[E:.*]] = tensor.concat dim(1) %arg1, %arg0, %arg2
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
func.func @dense(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x6xf32>, tensor<2x9xf32>, tensor<2x12xf32>, tensor<6x3xf32>, tensor<2x9xf32>) {
  %0 = tensor.concat dim(1) %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = tensor.concat dim(1) %x, %y, %z : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  %2 = tensor.concat dim(1) %x, %y, %z, %x : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x12xf32>
  %3 = tensor.concat dim(0) %x, %y, %z : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
  %4 = tensor.concat dim(1) %y, %x, %z : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  return %0, %1, %2, %3, %4 : tensor<2x6xf32>, tensor<2x9xf32>, tensor<2x12xf32>, tensor<6x3xf32>, tensor<2x9xf32>
}
