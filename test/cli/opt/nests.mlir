// RUN: onemlir-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize{max-iterations=2}),om-dce)' --mlir-print-ir-after=cse 2>&1 | FileCheck %s
// RUN: onemlir-opt %s --dump-pass-pipeline --pass-pipeline='func.func( cse , canonicalize )' 2>&1 | FileCheck %s --check-prefix=FLAT
// RUN: not onemlir-opt %s --pass-pipeline='builtin.module(func.func(om-cse))' 2>&1 | FileCheck %s --check-prefix=OURS
// RUN: not onemlir-opt %s --pass-pipeline='builtin.module(cse,,om-dce)' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not onemlir-opt %s --om-fold=max-elements=many 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: onemlir-opt %s --om-fold={max-elements=4}

// CHECK: IR Dump After cse
// FLAT: Pass Manager with 2 passes:
// FLAT-NEXT: builtin.module(func.func(cse),func.func(canonicalize))
// OURS: onemlir-opt: pass 'om-cse' works on the module: it cannot stand inside of func.func(...)
// EMPTY: onemlir-opt: --pass-pipeline: a pass without a name in 'cse,,om-dce'
// TYPE: onemlir-opt: option 'max-elements' of pass 'om-fold' must be int, found 'many'
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
