// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @relu(
// CHECK-NEXT: %0 = "om.relu"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @relu(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.relu"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-NEXT: %0 = "om.sigmoid"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sigmoid(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.sigmoid"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @relu6(
// CHECK-NEXT: %0 = "om.relu6"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @relu6(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.relu6"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @leaky_relu(
// CHECK-NEXT: %0 = "om.leaky_relu"(%arg0) {negative_slope = 1.000000e-02 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @leaky_relu(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.leaky_relu"(%arg0) {negative_slope = 1.000000e-02 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @prelu(
// CHECK-NEXT: %0 = "om.prelu"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @prelu(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.prelu"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @elu(
// CHECK-NEXT: %0 = "om.elu"(%arg0) {alpha = 1.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @elu(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.elu"(%arg0) {alpha = 1.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @selu(
// CHECK-NEXT: %0 = "om.selu"(%arg0) {alpha = 1.6732632423543772 : f64, scale = 1.0507009873554805 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @selu(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.selu"(%arg0) {alpha = 1.6732632423543772 : f64, scale = 1.0507009873554805 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @celu(
// CHECK-NEXT: %0 = "om.celu"(%arg0) {alpha = 1.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @celu(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.celu"(%arg0) {alpha = 1.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gelu(
// CHECK-NEXT: %0 = "om.gelu"(%arg0) {approximate = "none"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @gelu(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.gelu"(%arg0) {approximate = "none"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @silu(
// CHECK-NEXT: %0 = "om.silu"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @silu(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.silu"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @hard_sigmoid(
// CHECK-NEXT: %0 = "om.hard_sigmoid"(%arg0) {alpha = 0.16666666666666666 : f64, beta = 5.000000e-01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @hard_sigmoid(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.hard_sigmoid"(%arg0) {alpha = 0.16666666666666666 : f64, beta = 5.000000e-01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @hard_swish(
// CHECK-NEXT: %0 = "om.hard_swish"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @hard_swish(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.hard_swish"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @mish(
// CHECK-NEXT: %0 = "om.mish"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @mish(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.mish"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @softplus(
// CHECK-NEXT: %0 = "om.softplus"(%arg0) {beta = 1.000000e+00 : f64, threshold = 2.000000e+01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @softplus(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.softplus"(%arg0) {beta = 1.000000e+00 : f64, threshold = 2.000000e+01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @softsign(
// CHECK-NEXT: %0 = "om.softsign"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @softsign(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.softsign"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT: %0 = "om.softmax"(%arg0) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @softmax(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.softmax"(%arg0) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK-NEXT: %0 = "om.log_softmax"(%arg0) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log_softmax(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.log_softmax"(%arg0) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
