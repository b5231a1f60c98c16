// RUN: onemlir-opt %s --split-input-file --verify-diagnostics --om-to-linalg

// expected-error @+1 {{argument 1 of @main is memref<2xf32>: this pass converts a function of ranked tensors}}
func.func @main(%x: tensor<2xf32>, %y: memref<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{@main has branches between blocks; its control flow must be scf}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^end
^end:
  return %x : tensor<2xf32>
}

// -----

func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{no lowering for func.call}}
  %0 = call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Only a declaration.
// expected-error @+1 {{has no function @main with a body}}
module {
  func.func private @main(tensor<2xf32>) -> tensor<2xf32>
}
