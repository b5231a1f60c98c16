// RUN: not onemlir-opt %s --om-fold="most=4" 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not onemlir-opt %s --om-fold="max-elements=many" 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not onemlir-opt %s --om-to-linlag 2>&1 | FileCheck %s --check-prefix=SIMILAR
// RUN: not onemlir-opt %s --no-such-pass 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not onemlir-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not onemlir-opt %s %s 2>&1 | FileCheck %s --check-prefix=FILES
// RUN: not onemlir-opt %s.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not onemlir-opt %s --verify-each=maybe 2>&1 | FileCheck %s --check-prefix=TRUTH

// OPTION: pass 'om-fold' has no option 'most'; its options: max-elements
// VALUE: option 'max-elements' of pass 'om-fold' must be int, found 'many'
// PASS: unknown pass or wrong options: 'no-such-pass'
// SIMILAR: did you mean 'om-to-linalg'?
// OPEN: --pass-pipeline: pipeline is not closed
// FILES: one input file, found 2
// MISSING: No such file
// TRUTH: --verify-each: expected true or false, found 'maybe'
module {}
