// RUN: onemlir-opt %s --om-expand-math | FileCheck %s

// CHECK-LABEL: func.func @square
// CHECK: %[[R:.*]] = arith.mulf %arg0, %arg0 : f32
// CHECK-NEXT: return %[[R]]
func.func @square(%x: f32) -> f32 {
  %c = arith.constant 2.0 : f32
  %r = math.powf %x, %c : f32
  return %r : f32
}

// The square root of -inf is not a number, its power 0.5 is inf; the root of -0 is -0, its power is 0.
// CHECK-LABEL: func.func @root
// CHECK: math.sqrt
// CHECK: arith.addf
// CHECK: arith.select
// CHECK-NOT: math.powf
func.func @root(%x: vector<4xf32>) -> vector<4xf32> {
  %c = arith.constant dense<0.5> : vector<4xf32>
  %r = math.powf %x, %c : vector<4xf32>
  return %r : vector<4xf32>
}

// x**5 in three multiplications and those by the first 1.
// CHECK-LABEL: func.func @fifth
// CHECK-COUNT-5: arith.muli
// CHECK-NOT: arith.muli
// CHECK: return
func.func @fifth(%x: i32) -> i32 {
  %c = arith.constant 5 : i32
  %r = math.ipowi %x, %c : i32
  return %r : i32
}
