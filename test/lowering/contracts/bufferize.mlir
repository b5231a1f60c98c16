// RUN: onemlir-opt %s --split-input-file --verify-diagnostics --om-bufferize

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'om.exp' op is not lowered yet: om-to-linalg comes first (pass 'om-bufferize')}}
  %0 = "om.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
