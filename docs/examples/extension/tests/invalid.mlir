// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

func.func @main(%x: tensor<2xf32>, %g: tensor<2xf64>) -> tensor<2xf32> {
  // expected-error @+1 {{'swiglu.gate' op gate: 'gate' is float64 but 'x' is float32}}
  %0 = "swiglu.gate"(%x, %g) {beta = 1.0 : f64} : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<2xf32>, %g: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{swiglu: shapes (2,) and (3,) do not broadcast}}
  %0 = "swiglu.gate"(%x, %g) {beta = 1.0 : f64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
