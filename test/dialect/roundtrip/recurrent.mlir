// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @rnn_layer(
// CHECK-NEXT: %0 = "om.parameter"() {name = "weight_ih_l0"} : () -> tensor<3x2xf32>
// CHECK-NEXT: %1 = "om.parameter"() {name = "weight_hh_l0"} : () -> tensor<3x3xf32>
// CHECK-NEXT: %2 = "om.parameter"() {name = "bias_ih_l0"} : () -> tensor<3xf32>
// CHECK-NEXT: %3 = "om.parameter"() {name = "bias_hh_l0"} : () -> tensor<3xf32>
// CHECK-NEXT: %4:2 = "om.rnn_layer"(%arg0, %0, %1, %2, %3) {activation = "tanh", clip, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, reverse = false} : (tensor<4x1x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x1x3xf32>, tensor<1x3xf32>)
// CHECK-NEXT: %5 = "om.reshape"(%4#1) {shape = array<i64: 1, 1, 3>} : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
// CHECK-NEXT: %concat = tensor.concat dim(0) %5 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
func.func @rnn_layer(%arg0: tensor<4x1x2xf32>) -> (tensor<4x1x3xf32>, tensor<1x1x3xf32>) {
  %0 = "om.parameter"() {name = "weight_ih_l0"} : () -> tensor<3x2xf32>
  %1 = "om.parameter"() {name = "weight_hh_l0"} : () -> tensor<3x3xf32>
  %2 = "om.parameter"() {name = "bias_ih_l0"} : () -> tensor<3xf32>
  %3 = "om.parameter"() {name = "bias_hh_l0"} : () -> tensor<3xf32>
  %4:2 = "om.rnn_layer"(%arg0, %0, %1, %2, %3) {activation = "tanh", clip, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, reverse = false} : (tensor<4x1x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x1x3xf32>, tensor<1x3xf32>)
  %5 = "om.reshape"(%4#1) {shape = array<i64: 1, 1, 3>} : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
  %concat = tensor.concat dim(0) %5 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %4#0, %concat : tensor<4x1x3xf32>, tensor<1x1x3xf32>
}

// CHECK-LABEL: func.func @gru_layer(
// CHECK-NEXT: %0 = "om.parameter"() {name = "weight_ih_l0"} : () -> tensor<9x2xf32>
// CHECK-NEXT: %1 = "om.parameter"() {name = "weight_hh_l0"} : () -> tensor<9x3xf32>
// CHECK-NEXT: %2 = "om.parameter"() {name = "bias_ih_l0"} : () -> tensor<9xf32>
// CHECK-NEXT: %3 = "om.parameter"() {name = "bias_hh_l0"} : () -> tensor<9xf32>
// CHECK-NEXT: %4:2 = "om.gru_layer"(%arg0, %0, %1, %2, %3) {activation = "tanh", clip, gate_activation = "sigmoid", linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, reverse = false} : (tensor<4x1x2xf32>, tensor<9x2xf32>, tensor<9x3xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<4x1x3xf32>, tensor<1x3xf32>)
// CHECK-NEXT: %5 = "om.reshape"(%4#1) {shape = array<i64: 1, 1, 3>} : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
// CHECK-NEXT: %concat = tensor.concat dim(0) %5 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
func.func @gru_layer(%arg0: tensor<4x1x2xf32>) -> (tensor<4x1x3xf32>, tensor<1x1x3xf32>) {
  %0 = "om.parameter"() {name = "weight_ih_l0"} : () -> tensor<9x2xf32>
  %1 = "om.parameter"() {name = "weight_hh_l0"} : () -> tensor<9x3xf32>
  %2 = "om.parameter"() {name = "bias_ih_l0"} : () -> tensor<9xf32>
  %3 = "om.parameter"() {name = "bias_hh_l0"} : () -> tensor<9xf32>
  %4:2 = "om.gru_layer"(%arg0, %0, %1, %2, %3) {activation = "tanh", clip, gate_activation = "sigmoid", linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, reverse = false} : (tensor<4x1x2xf32>, tensor<9x2xf32>, tensor<9x3xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<4x1x3xf32>, tensor<1x3xf32>)
  %5 = "om.reshape"(%4#1) {shape = array<i64: 1, 1, 3>} : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
  %concat = tensor.concat dim(0) %5 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %4#0, %concat : tensor<4x1x3xf32>, tensor<1x1x3xf32>
}

// CHECK-LABEL: func.func @lstm_layer(
// CHECK-NEXT: %0 = "om.parameter"() {name = "weight_ih_l0"} : () -> tensor<12x2xf32>
// CHECK-NEXT: %1 = "om.parameter"() {name = "weight_hh_l0"} : () -> tensor<12x3xf32>
// CHECK-NEXT: %2 = "om.parameter"() {name = "bias_ih_l0"} : () -> tensor<12xf32>
// CHECK-NEXT: %3 = "om.parameter"() {name = "bias_hh_l0"} : () -> tensor<12xf32>
// CHECK-NEXT: %4:3 = "om.lstm_layer"(%arg0, %0, %1, %2, %3) {activation = "tanh", clip, gate_activation = "sigmoid", hidden_activation = "tanh", input_forget = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0>, reverse = false} : (tensor<4x1x2xf32>, tensor<12x2xf32>, tensor<12x3xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<4x1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>)
// CHECK-NEXT: %5 = "om.reshape"(%4#1) {shape = array<i64: 1, 1, 3>} : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
// CHECK-NEXT: %concat = tensor.concat dim(0) %5 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
// CHECK-NEXT: %6 = "om.reshape"(%4#2) {shape = array<i64: 1, 1, 3>} : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
// CHECK-NEXT: %concat_0 = tensor.concat dim(0) %6 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
func.func @lstm_layer(%arg0: tensor<4x1x2xf32>) -> (tensor<4x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %0 = "om.parameter"() {name = "weight_ih_l0"} : () -> tensor<12x2xf32>
  %1 = "om.parameter"() {name = "weight_hh_l0"} : () -> tensor<12x3xf32>
  %2 = "om.parameter"() {name = "bias_ih_l0"} : () -> tensor<12xf32>
  %3 = "om.parameter"() {name = "bias_hh_l0"} : () -> tensor<12xf32>
  %4:3 = "om.lstm_layer"(%arg0, %0, %1, %2, %3) {activation = "tanh", clip, gate_activation = "sigmoid", hidden_activation = "tanh", input_forget = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0>, reverse = false} : (tensor<4x1x2xf32>, tensor<12x2xf32>, tensor<12x3xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<4x1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>)
  %5 = "om.reshape"(%4#1) {shape = array<i64: 1, 1, 3>} : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
  %concat = tensor.concat dim(0) %5 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %6 = "om.reshape"(%4#2) {shape = array<i64: 1, 1, 3>} : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
  %concat_0 = tensor.concat dim(0) %6 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %4#0, %concat, %concat_0 : tensor<4x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>
}
