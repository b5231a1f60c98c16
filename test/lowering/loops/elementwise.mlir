// RUN: onemlir-opt %s --split-input-file --om-to-linalg --canonicalize --cse --om-fuse-elementwise --om-bufferize --om-plan-memory --om-linalg-to-loops | FileCheck %s

// A small loop, whose grain is all of its steps: one call, without threads.
// CHECK-LABEL: func.func @main
// CHECK: scf.parallel
// CHECK: memref.load
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.mulf
// CHECK: memref.store
// CHECK-NEXT: scf.reduce
// CHECK-NEXT: om.grain = 8
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "om.add"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = "om.exp"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "om.multiply"(%1, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// A large one may run on threads.
// CHECK-LABEL: func.func @main
// CHECK: scf.parallel
// CHECK: math.exp
// CHECK: memref.store
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = "om.exp"(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// A sum may be reordered.
// CHECK-LABEL: func.func @main
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: arith.addf {{.*}} fastmath<reassoc
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %1 = "om.sum"(%x) {axis = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// No elements.
// CHECK-LABEL: func.func @main
// CHECK: return
func.func @main(%x: tensor<0xf32>) -> tensor<0xf32> {
  %0 = "om.exp"(%x) : (tensor<0xf32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// -----

// One element needs no loop.
// CHECK-LABEL: func.func @main
// CHECK-NOT: scf.
// CHECK: memref.load
// CHECK-NEXT: math.exp
// CHECK: memref.store
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "om.exp"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// LLVM makes vectors along a short row: unrolled as a whole, its vectors would go across rows.
// CHECK: #[[UNROLL:.*]] = #llvm.loop_unroll<disable = true>
// CHECK-NEXT: #[[ROW:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
// CHECK-LABEL: func.func @main
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK: } {llvm.loop_annotation = #[[ROW]]}
func.func @main(%x: tensor<512x32xf32>, %y: tensor<32xf32>) -> tensor<512x32xf32> {
  %0 = "om.multiply"(%x, %y) : (tensor<512x32xf32>, tensor<32xf32>) -> tensor<512x32xf32>
  return %0 : tensor<512x32xf32>
}

// -----

// The kernel of a product writes without reading: nothing fills its output.
// CHECK-LABEL: func.func @main
// CHECK-NOT: scf.
// CHECK: call @om_kernel_0
// CHECK-NOT: scf.
// CHECK: return
func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "om.matmul"(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// Where the outermost loop may have one step, the threads share all steps of those around the rows.
// CHECK-LABEL: func.func @main
// CHECK: %[[COUNT:.*]] = arith.muli
// CHECK: scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%[[COUNT]])
// CHECK: arith.remui %[[I]]
// CHECK: arith.divui %[[I]]
// CHECK: scf.for
// CHECK: math.tanh
func.func @main(%x: tensor<?x1x512xf32>, %y: tensor<?x?x512xf32>) -> tensor<?x?x512xf32> {
  %0 = "om.add"(%x, %y) : (tensor<?x1x512xf32>, tensor<?x?x512xf32>) -> tensor<?x?x512xf32>
  %1 = "om.tanh"(%0) : (tensor<?x?x512xf32>) -> tensor<?x?x512xf32>
  return %1 : tensor<?x?x512xf32>
}
