// RUN: onemlir-opt %s --split-input-file --om-to-linalg --canonicalize --cse --om-fuse-elementwise --om-attach-epilogues | FileCheck %s

// What follows a product works on its result in place.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = linalg.generic {{.*}}"reduction"
// CHECK: linalg.generic {{.*}} outs(%[[P]] : tensor<4x4xf32>) attrs = {om.epilogue}
// CHECK: arith.maximumf
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "om.matmul"(%x, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "om.relu"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Without a product there is no epilogue.
// CHECK-LABEL: func.func @main
// CHECK-NOT: om.epilogue
// CHECK: return
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "om.exp"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "om.relu"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// A product that is wanted itself is not overwritten.
// CHECK-LABEL: func.func @main
// CHECK-NOT: om.epilogue
// CHECK: return
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = "om.matmul"(%x, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "om.relu"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A product of f16 is summed in f32; where its epilogue rounds, the sums are read and not overwritten.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = linalg.generic {{.*}}"reduction"{{.*}} outs(%{{.*}} : tensor<4x4xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<4x4xf32>) outs(%{{.*}} : tensor<4x4xf16>) attrs = {om.epilogue}
// CHECK: arith.truncf
// CHECK: arith.maximumf
func.func @main(%x: tensor<4x4xf16>, %y: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %0 = "om.matmul"(%x, %y) : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %1 = "om.relu"(%0) : (tensor<4x4xf16>) -> tensor<4x4xf16>
  return %1 : tensor<4x4xf16>
}
