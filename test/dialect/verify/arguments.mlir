// RUN: onemlir-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0: om.dims must be an array of strings, found 3 : i64}}
func.func @main(%x: tensor<?xf32> {om.dims = 3}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{argument 1: om.dims names 2 axes, but tensor<?xf32> has 1}}
func.func @main(%x: tensor<f32>, %y: tensor<?xf32> {om.dims = ["a", "b"]}) -> tensor<?xf32> {
  return %y : tensor<?xf32>
}

// -----

// expected-error @+1 {{argument 0: om.name must be a string}}
func.func @main(%x: tensor<f32> {om.name = 1}) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error @+1 {{argument 0: om.ranges must be an array<i64> of three numbers an axis}}
func.func @main(%x: tensor<?xf32> {om.dims = ["n"], om.ranges = array<i64: 1>}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{found tensor<2xcomplex<f32>>; the dialect has tensors of}}
func.func @main(%x: tensor<2xcomplex<f32>>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "om.exp"(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// What holds no op of ours is upstream's alone.
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  return %x : tensor<2xcomplex<f32>>
}
