// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Arithmetic on sizes: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @sizes(
// CHECK-NEXT: %0 = "om.dim"(%arg0) {axis = 0 : i64} : (tensor<?xf32>) -> index
// CHECK-NEXT: %1 = "om.to_size"(%arg1) : (tensor<i64>) -> index
// CHECK-NEXT: %2 = "om.size_mod"(%0, %1) : (index, index) -> index
// CHECK-NEXT: %3 = "om.size_broadcast"(%0, %2) : (index, index) -> index
// CHECK-NEXT: %4 = "om.from_size"(%3) : (index) -> tensor<i64>
// CHECK-NEXT: %5 = "om.iota"(%3) {dtype = i64, size = array<i64: -1>} : (index) -> tensor<?xi64>
func.func @sizes(%arg0: tensor<?xf32> {om.dims = ["n"]}, %arg1: tensor<i64>) -> (tensor<i64>, tensor<?xi64>) {
  %0 = "om.dim"(%arg0) {axis = 0 : i64} : (tensor<?xf32>) -> index
  %1 = "om.to_size"(%arg1) : (tensor<i64>) -> index
  %2 = "om.size_mod"(%0, %1) : (index, index) -> index
  %3 = "om.size_broadcast"(%0, %2) : (index, index) -> index
  %4 = "om.from_size"(%3) : (index) -> tensor<i64>
  %5 = "om.iota"(%3) {dtype = i64, size = array<i64: -1>} : (index) -> tensor<?xi64>
  return %4, %5 : tensor<i64>, tensor<?xi64>
}
