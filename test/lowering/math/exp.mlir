// RUN: onemlir-opt %s --om-expand-math | FileCheck %s

// e**x = 2**n (1 + r + r*r*q(r)): two steps of reduction, eight of the polynomial, no call, no branch.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.exp
// CHECK-COUNT-10: math.fma %{{.*}} : f32
// CHECK-NOT: math.fma
// CHECK: arith.shli %{{.*}} : i32
// CHECK: arith.mulf
// CHECK: %[[R:.*]] = arith.mulf
// CHECK-NEXT: return %[[R]] : f32
func.func @exp(%x: f32) -> f32 {
  %r = math.exp %x : f32
  return %r : f32
}
