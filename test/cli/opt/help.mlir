// RUN: onemlir-opt --help | FileCheck %s
// RUN: onemlir-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS

// CHECK: Options:
// CHECK: --verify-diagnostics Compare errors
// CHECK: Passes of onemlir:
// CHECK: --om-fold Compute ops on literals alone, where the result is small. [max-elements=1024]
// CHECK: Upstream passes: general:
// CHECK: --canonicalize Canonicalize operations
// CHECK: Upstream passes: conversion:
// CHECK: --convert-arith-to-llvm
// DIALECTS: om: {{[0-9]+}} ops
module {}
