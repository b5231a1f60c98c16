// RUN: onemlir-opt %s --split-input-file --verify-diagnostics --om-fuse-elementwise

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'om.exp' op is not lowered yet: om-to-linalg comes first (pass 'om-fuse-elementwise')}}
  %0 = "om.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @main(%x: memref<2xf32>, %y: memref<2xf32>) {
  // expected-error @+1 {{'linalg.generic' op has buffers: this pass works on tensors, before om-bufferize (pass 'om-fuse-elementwise')}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<2xf32>) outs(%y : memref<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
