// RUN: onemlir-opt %s --om-expand-math | FileCheck %s

// What the machine computes itself, tensors and other float types stay.
// CHECK-LABEL: func.func @native
// CHECK-NEXT: math.sqrt %arg0 : f32
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.copysign
// CHECK-NEXT: return
func.func @native(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.floor %0 : f32
  %2 = math.copysign %1, %x : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @tensor
// CHECK-NEXT: math.exp
// CHECK-NEXT: return
func.func @tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.exp %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
