// RUN: onemlir-opt %s --om-expand-math | FileCheck %s

// f16 and bf16 are computed in f32.
// CHECK-LABEL: func.func @f16
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK-NOT: math.tanh
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK-NEXT: return %[[R]]
func.func @f16(%x: vector<8xf16>) -> vector<8xf16> {
  %r = math.tanh %x : vector<8xf16>
  return %r : vector<8xf16>
}

// CHECK-LABEL: func.func @bf16
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK-NOT: math.log
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @bf16(%x: bf16) -> bf16 {
  %r = math.log %x : bf16
  return %r : bf16
}

// Where one word of f32 is not enough, f32 is computed in f64.
// CHECK-LABEL: func.func @wide
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK-NOT: math.sin
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @wide(%x: f32) -> f32 {
  %r = math.sin %x : f32
  return %r : f32
}
