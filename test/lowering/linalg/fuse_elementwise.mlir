// RUN: onemlir-opt %s --split-input-file --om-to-linalg --canonicalize --cse --om-fuse-elementwise --canonicalize --cse | FileCheck %s

// A chain of elementwise ops is one loop.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.addf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "om.add"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = "om.exp"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "om.multiply"(%1, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// One op has nothing to be fused with.
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NOT: linalg.generic
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "om.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// What two ops use is computed once.
// CHECK-LABEL: func.func @main
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: math.sin
// CHECK: math.cos
// CHECK-NOT: math.exp
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = "om.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "om.sin"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "om.cos"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Into a reduction, which reads each element once.
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: math.exp
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = "om.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "om.sum"(%0) {axis = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What a product alone reads is computed in the order in which its inputs lie.
// CHECK-LABEL: func.func @main
// CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<2x8x4xf32>) outs({{.*}} : tensor<2x8x4xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[EXP]] : tensor<2x6x4xf32>, tensor<2x8x4xf32>)
func.func @main(%x: tensor<2x8x4xf32>, %y: tensor<2x6x4xf32>) -> tensor<2x6x8xf32> {
  %0 = "om.transpose"(%x) {axes = array<i64: 0, 2, 1>} : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
  %1 = "om.exp"(%0) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %2 = "om.matmul"(%y, %1) : (tensor<2x6x4xf32>, tensor<2x4x8xf32>) -> tensor<2x6x8xf32>
  return %2 : tensor<2x6x8xf32>
}
