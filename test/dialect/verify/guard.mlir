// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// The predicate is bool.
func.func @main(%p: tensor<f32>) {
  // expected-error @+1 {{'om.guard' op guard: 'predicate' must have bool, found float32}}
  "om.guard"(%p) {message = "m", kind = "GuardError", operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<f32>) -> ()
  return
}
