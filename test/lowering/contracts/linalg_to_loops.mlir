// RUN: onemlir-opt %s --split-input-file --verify-diagnostics --om-linalg-to-loops

// expected-error @+1 {{has tensors: om-bufferize comes first}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'om.exp' op is not lowered yet: om-to-linalg comes first (pass 'om-linalg-to-loops')}}
  %0 = "om.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{'func.func' op has tensors: om-bufferize comes first (pass 'om-linalg-to-loops')}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
