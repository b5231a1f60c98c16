// RUN: onemlir-opt %s --emit-bytecode | onemlir-opt --mlir-print-op-generic | onemlir-opt | FileCheck %s

// Every op of the family: parsed, through bytecode, through the generic form, and printed as it stands here.

// CHECK-LABEL: func.func @add(
// CHECK-NEXT: %0 = "om.add"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @add(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.add"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @subtract(
// CHECK-NEXT: %0 = "om.subtract"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @subtract(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.subtract"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @multiply(
// CHECK-NEXT: %0 = "om.multiply"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @multiply(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.multiply"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @divide(
// CHECK-NEXT: %0 = "om.divide"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @divide(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.divide"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @floor_divide(
// CHECK-NEXT: %0 = "om.floor_divide"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @floor_divide(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.floor_divide"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @remainder(
// CHECK-NEXT: %0 = "om.remainder"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @remainder(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.remainder"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @fmod(
// CHECK-NEXT: %0 = "om.fmod"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @fmod(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.fmod"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @trunc_divide(
// CHECK-NEXT: %0 = "om.trunc_divide"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @trunc_divide(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.trunc_divide"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @pow(
// CHECK-NEXT: %0 = "om.pow"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @pow(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.pow"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @maximum(
// CHECK-NEXT: %0 = "om.maximum"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @maximum(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.maximum"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @minimum(
// CHECK-NEXT: %0 = "om.minimum"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @minimum(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.minimum"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @atan2(
// CHECK-NEXT: %0 = "om.atan2"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @atan2(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.atan2"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @copysign(
// CHECK-NEXT: %0 = "om.copysign"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @copysign(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.copysign"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @equal(
// CHECK-NEXT: %0 = "om.equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @equal(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @not_equal(
// CHECK-NEXT: %0 = "om.not_equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @not_equal(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.not_equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @less(
// CHECK-NEXT: %0 = "om.less"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @less(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.less"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @less_equal(
// CHECK-NEXT: %0 = "om.less_equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @less_equal(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.less_equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @greater(
// CHECK-NEXT: %0 = "om.greater"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @greater(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.greater"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @greater_equal(
// CHECK-NEXT: %0 = "om.greater_equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @greater_equal(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.greater_equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @logical_and(
// CHECK-NEXT: %0 = "om.logical_and"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_and(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>) -> tensor<2x3xi1> {
  %0 = "om.logical_and"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @logical_or(
// CHECK-NEXT: %0 = "om.logical_or"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_or(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>) -> tensor<2x3xi1> {
  %0 = "om.logical_or"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @logical_xor(
// CHECK-NEXT: %0 = "om.logical_xor"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_xor(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>) -> tensor<2x3xi1> {
  %0 = "om.logical_xor"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @logical_not(
// CHECK-NEXT: %0 = "om.logical_not"(%arg0) : (tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @logical_not(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
  %0 = "om.logical_not"(%arg0) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @bitwise_and(
// CHECK-NEXT: %0 = "om.bitwise_and"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @bitwise_and(%arg0: tensor<2x3xi64>, %arg1: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %0 = "om.bitwise_and"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @bitwise_or(
// CHECK-NEXT: %0 = "om.bitwise_or"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @bitwise_or(%arg0: tensor<2x3xi64>, %arg1: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %0 = "om.bitwise_or"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @bitwise_xor(
// CHECK-NEXT: %0 = "om.bitwise_xor"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @bitwise_xor(%arg0: tensor<2x3xi64>, %arg1: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %0 = "om.bitwise_xor"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @bitwise_not(
// CHECK-NEXT: %0 = "om.bitwise_not"(%arg0) : (tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @bitwise_not(%arg0: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %0 = "om.bitwise_not"(%arg0) : (tensor<2x3xi64>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @left_shift(
// CHECK-NEXT: %0 = "om.left_shift"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @left_shift(%arg0: tensor<2x3xi64>, %arg1: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %0 = "om.left_shift"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @right_shift(
// CHECK-NEXT: %0 = "om.right_shift"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
func.func @right_shift(%arg0: tensor<2x3xi64>, %arg1: tensor<2x3xi64>) -> tensor<2x3xi64> {
  %0 = "om.right_shift"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// CHECK-LABEL: func.func @negative(
// CHECK-NEXT: %0 = "om.negative"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @negative(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.negative"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @abs(
// CHECK-NEXT: %0 = "om.abs"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @abs(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.abs"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sign(
// CHECK-NEXT: %0 = "om.sign"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sign(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.sign"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @square(
// CHECK-NEXT: %0 = "om.square"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @square(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.square"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @reciprocal(
// CHECK-NEXT: %0 = "om.reciprocal"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @reciprocal(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.reciprocal"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @floor(
// CHECK-NEXT: %0 = "om.floor"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @floor(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.floor"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @ceil(
// CHECK-NEXT: %0 = "om.ceil"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @ceil(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.ceil"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @trunc(
// CHECK-NEXT: %0 = "om.trunc"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @trunc(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.trunc"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @round(
// CHECK-NEXT: %0 = "om.round"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @round(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.round"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK-NEXT: %0 = "om.sqrt"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sqrt(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.sqrt"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK-NEXT: %0 = "om.rsqrt"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @rsqrt(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.rsqrt"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @exp(
// CHECK-NEXT: %0 = "om.exp"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @exp(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.exp"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @exp2(
// CHECK-NEXT: %0 = "om.exp2"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @exp2(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.exp2"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @expm1(
// CHECK-NEXT: %0 = "om.expm1"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @expm1(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.expm1"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @log(
// CHECK-NEXT: %0 = "om.log"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.log"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @log2(
// CHECK-NEXT: %0 = "om.log2"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log2(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.log2"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @log10(
// CHECK-NEXT: %0 = "om.log10"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log10(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.log10"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @log1p(
// CHECK-NEXT: %0 = "om.log1p"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log1p(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.log1p"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sin(
// CHECK-NEXT: %0 = "om.sin"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sin(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.sin"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cos(
// CHECK-NEXT: %0 = "om.cos"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @cos(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.cos"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @tan(
// CHECK-NEXT: %0 = "om.tan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @tan(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.tan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @asin(
// CHECK-NEXT: %0 = "om.asin"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @asin(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.asin"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @acos(
// CHECK-NEXT: %0 = "om.acos"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @acos(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.acos"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @atan(
// CHECK-NEXT: %0 = "om.atan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @atan(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.atan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sinh(
// CHECK-NEXT: %0 = "om.sinh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @sinh(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.sinh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cosh(
// CHECK-NEXT: %0 = "om.cosh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @cosh(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.cosh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK-NEXT: %0 = "om.tanh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @tanh(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.tanh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @asinh(
// CHECK-NEXT: %0 = "om.asinh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @asinh(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.asinh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @acosh(
// CHECK-NEXT: %0 = "om.acosh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @acosh(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.acosh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @atanh(
// CHECK-NEXT: %0 = "om.atanh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @atanh(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.atanh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @erf(
// CHECK-NEXT: %0 = "om.erf"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @erf(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.erf"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @erfc(
// CHECK-NEXT: %0 = "om.erfc"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @erfc(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.erfc"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @isnan(
// CHECK-NEXT: %0 = "om.isnan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @isnan(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.isnan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @isinf(
// CHECK-NEXT: %0 = "om.isinf"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @isinf(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.isinf"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @isfinite(
// CHECK-NEXT: %0 = "om.isfinite"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @isfinite(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "om.isfinite"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @where(
// CHECK-NEXT: %0 = "om.where"(%arg0, %arg1, %arg2) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @where(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.where"(%arg0, %arg1, %arg2) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK-NEXT: %0 = "om.cast"(%arg0) {dtype = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @cast(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.cast"(%arg0) {dtype = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @bitcast(
// CHECK-NEXT: %0 = "om.bitcast"(%arg0) {dtype = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @bitcast(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "om.bitcast"(%arg0) {dtype = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
