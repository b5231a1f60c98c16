// RUN: onemlir-opt %s --split-input-file --verify-diagnostics --om-split-prepare

// expected-error @+1 {{'func.func' op @main has arguments without om.role: om-to-linalg comes first (pass 'om-split-prepare')}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// No entry function at all: the place is the module's.
// expected-error @+1 {{'builtin.module' op has no function @main with a body}}
module {
  func.func @other() {
    return
  }
}
