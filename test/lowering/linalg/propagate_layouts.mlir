// RUN: onemlir-opt %s --split-input-file --om-propagate-layouts | FileCheck %s

// Two transpositions meet around an elementwise op: it runs in the order in which its input lies, and the bias is read along the last loop.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[BIAS]], #[[ID]]]
// CHECK-SAME: ins(%arg0, %arg1 : tensor<2x5x6x3xf32>, tensor<3xf32>)
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]] : tensor<2x5x6x3xf32>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#last = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#first = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>
func.func @main(%x: tensor<2x5x6x3xf32>, %b: tensor<3xf32>) -> tensor<2x5x6x3xf32> {
  %e = tensor.empty() : tensor<2x3x5x6xf32>
  %0 = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x5x6x3xf32>) outs(%e : tensor<2x3x5x6xf32>) attrs = {om.layout} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x3x5x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %b : tensor<2x3x5x6xf32>, tensor<3xf32>) outs(%e : tensor<2x3x5x6xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x3x5x6xf32>
  %f = tensor.empty() : tensor<2x5x6x3xf32>
  %2 = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1 : tensor<2x3x5x6xf32>) outs(%f : tensor<2x5x6x3xf32>) attrs = {om.layout} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x5x6x3xf32>
  return %2 : tensor<2x5x6x3xf32>
}

// -----

// A concatenation of channels takes both parts as they lie; splitting an axis stays possible; what remains is one transposition at the end.
// CHECK-LABEL: func.func @main
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[0, 0, 0, 0] [2, 5, 6, 4] [1, 1, 1, 1] : tensor<2x5x6x4xf32> into tensor<2x5x6x8xf32>
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[0, 0, 0, 4] [2, 5, 6, 4] [1, 1, 1, 1]
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2], [3, 4]{{\]}} output_shape [2, 5, 6, 2, 4] : tensor<2x5x6x8xf32> into tensor<2x5x6x2x4xf32>
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return %{{.*}} : tensor<2x2x4x5x6xf32>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#last = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
func.func @main(%x: tensor<2x5x6x4xf32>, %y: tensor<2x5x6x4xf32>) -> tensor<2x2x4x5x6xf32> {
  %e = tensor.empty() : tensor<2x4x5x6xf32>
  %0 = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x5x6x4xf32>) outs(%e : tensor<2x4x5x6xf32>) attrs = {om.layout} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x4x5x6xf32>
  %1 = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<2x5x6x4xf32>) outs(%e : tensor<2x4x5x6xf32>) attrs = {om.layout} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x4x5x6xf32>
  %f = tensor.empty() : tensor<2x8x5x6xf32>
  %2 = tensor.insert_slice %0 into %f[0, 0, 0, 0] [2, 4, 5, 6] [1, 1, 1, 1] : tensor<2x4x5x6xf32> into tensor<2x8x5x6xf32>
  %3 = tensor.insert_slice %1 into %2[0, 4, 0, 0] [2, 4, 5, 6] [1, 1, 1, 1] : tensor<2x4x5x6xf32> into tensor<2x8x5x6xf32>
  %4 = tensor.expand_shape %3 [[0], [1, 2], [3], [4]] output_shape [2, 2, 4, 5, 6] : tensor<2x8x5x6xf32> into tensor<2x2x4x5x6xf32>
  return %4 : tensor<2x2x4x5x6xf32>
}

// -----

// An op that is no layout transposition stays as it is.
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<2x5x6x3xf32>) outs(%{{.*}} : tensor<2x3x5x6xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x5x6xf32>)
// CHECK: math.absf
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#last = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
func.func @main(%x: tensor<2x5x6x3xf32>) -> tensor<2x3x5x6xf32> {
  %e = tensor.empty() : tensor<2x3x5x6xf32>
  %0 = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x5x6x3xf32>) outs(%e : tensor<2x3x5x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x3x5x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<2x3x5x6xf32>) outs(%e : tensor<2x3x5x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.absf %in : f32
    linalg.yield %s : f32
  } -> tensor<2x3x5x6xf32>
  return %1 : tensor<2x3x5x6xf32>
}

// -----

// An element that is read where a size is not zero is read from the source, and the loops take its order.
// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: scf.if
// CHECK: tensor.extract %arg0[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : tensor<2x?x6x3xf32>
// CHECK: -> tensor<2x?x6x3xf32>
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]] : tensor<2x?x6x3xf32>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#last = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#first = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
func.func @main(%x: tensor<2x?x6x3xf32>, %h: index, %filled: i1, %zero: f32) -> tensor<2x?x6x3xf32> {
  %e = tensor.empty(%h) : tensor<2x3x?x6xf32>
  %0 = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x?x6x3xf32>) outs(%e : tensor<2x3x?x6xf32>) attrs = {om.layout} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x3x?x6xf32>
  %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<2x3x?x6xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %v = scf.if %filled -> (f32) {
      %s = tensor.extract %0[%n, %c, %i, %j] : tensor<2x3x?x6xf32>
      scf.yield %s : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  } -> tensor<2x3x?x6xf32>
  %f = tensor.empty(%h) : tensor<2x?x6x3xf32>
  %2 = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1 : tensor<2x3x?x6xf32>) outs(%f : tensor<2x?x6x3xf32>) attrs = {om.layout} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x?x6x3xf32>
  return %2 : tensor<2x?x6x3xf32>
}
