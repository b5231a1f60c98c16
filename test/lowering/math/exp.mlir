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

// 1 / (e**-x + 1) as a whole: one division, none of the selects by which e**x alone keeps its small results.
// CHECK-LABEL: func.func @sigmoid
// CHECK-NOT: math.exp
// CHECK-COUNT-11: math.fma %{{.*}} : f32
// CHECK-NOT: math.fma
// CHECK: %[[R:.*]] = arith.divf
// CHECK-NEXT: return %[[R]] : f32
func.func @sigmoid(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %y = arith.negf %x : f32
  %e = math.exp %y : f32
  %d = arith.addf %e, %one : f32
  %r = arith.divf %one, %d : f32
  return %r : f32
}
