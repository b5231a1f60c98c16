"""The C header of a library."""
from __future__ import annotations

import re
from typing import Sequence

from ..specs import Spec

DLPACK = """#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
/* The part of DLPack 1.0 that is used here; where dlpack.h was included before, it stands. */
typedef enum { kDLCPU = 1 } DLDeviceType;
typedef struct { DLDeviceType device_type; int32_t device_id; } DLDevice;
typedef enum { kDLInt = 0U, kDLUInt = 1U, kDLFloat = 2U, kDLBfloat = 4U, kDLBool = 6U } DLDataTypeCode;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;     /* NULL: row-major */
  uint64_t byte_offset;
} DLTensor;
#endif
"""

COMMON = """#ifndef ONEMLIR_TYPES
#define ONEMLIR_TYPES
/* Runs body(context, begin, end) over parts that cover 0 to count, and returns when all are done; parts have at least `grain` steps. */
typedef void (*onemlir_body)(void *context, int64_t begin, int64_t end);
typedef void (*onemlir_parallel_for_function)(void *pool, onemlir_body body, void *context, int64_t count, int64_t grain);
typedef struct {
  int32_t threads;                            /* 0: as compiled, else all processors */
  int32_t reserved;
  onemlir_parallel_for_function parallel_for; /* NULL: the library's own threads */
  void *pool;                                 /* handed to parallel_for */
  void *workspace;                            /* NULL: memory is allocated and freed in each run */
  const void *weights;                        /* the file of weights, where they are not inside the library */
} onemlir_options;
typedef struct {
  int64_t code;      /* what the run returned */
  int64_t found;     /* the value that was refused */
  int64_t expected;  /* what it should have been */
  int64_t index;     /* the axis or element */
} onemlir_detail;
#endif
"""


def header_text(name: str, version: str, inputs: Sequence[Spec], outputs: Sequence[Spec], weights: str | None) -> str:
    guard = f"{name.upper()}_H"
    arguments = [("const DLTensor *", _argument(s.name, "in")) for s in inputs]
    arguments += [("DLTensor *", _argument(s.name, "out")) for s in outputs]
    words = [word for _, word in arguments]
    # Names may differ in signs alone that C does not have.
    unique = [word if words.count(word) == 1 else f"{word}_{i}" for i, word in enumerate(words)]
    tensors = ", ".join(kind + word for (kind, _), word in zip(arguments, unique))
    listed = "\n".join(f"   {kind:<6} {_described(spec)}" for kind, specs in (("input", inputs), ("output", outputs)) for spec in specs)
    beside = f"\n   The weights are in the file {weights}: map it and set options.weights.\n" if weights else ""
    return f"""/* {name}: a model compiled by onemlir {version}.
{listed}
{beside}
   Every function may be called from several threads at once. Outputs must not overlap inputs or each other. */
#ifndef {guard}
#define {guard}
#include <stdint.h>

{DLPACK}
{COMMON}
#ifdef __cplusplus
extern "C" {{
#endif

/* Run the model; 0, or an error code. An output whose data is NULL is allocated: its shape is written to shape[], and its data
   is given back with {name}_free. Outputs whose size depends on data are always allocated. */
int32_t {name}_run({tensors or 'void'});
/* The same with options and a detail record; either may be NULL. */
int32_t {name}_run_with(const onemlir_options *options, onemlir_detail *detail{', ' + tensors if tensors else ''});
/* The same with an array of pointers to all tensors, inputs first. */
int32_t {name}_run_tensors(const onemlir_options *options, onemlir_detail *detail, DLTensor *const *tensors);
/* The text of an error code; never NULL. */
const char *{name}_error(int32_t code);
/* Give back the data of an output that a run has allocated. */
void {name}_free(void *data);

/* Working memory that is kept between runs; one run at a time may use it. */
void *{name}_workspace_create(void);
void {name}_workspace_destroy(void *workspace);

/* The sizes of output i for these inputs, -1 where they depend on data; 0 or an error code. */
int32_t {name}_output_sizes(DLTensor *const *inputs, int32_t i, int64_t *sizes);

{_queries(name, 'input')}
{_queries(name, 'output')}
{_weights_check(name) if weights else ""}const char *{name}_version(void);
/* Threads of a run without options. */
int32_t {name}_threads(void);
/* Whether this processor can run the library; a run returns an error where not. */
int32_t {name}_supported(void);

#ifdef __cplusplus
}}
#endif
#endif
"""


def _weights_check(name: str) -> str:
    return f"""/* 0 where the bytes are those of the file of weights, by a 64-bit checksum. */
int32_t {name}_weights_check(const void *data, uint64_t size);
"""


def _queries(name: str, kind: str) -> str:
    return f"""int32_t {name}_{kind}_count(void);
const char *{name}_{kind}_name(int32_t i);
DLDataType {name}_{kind}_dtype(int32_t i);
int32_t {name}_{kind}_ndim(int32_t i);
const int64_t *{name}_{kind}_shape(int32_t i);              /* -1 where the size is not fixed */
const char *{name}_{kind}_axis(int32_t i, int32_t axis);    /* the name or formula of such a size, else "" */"""


def _argument(name: str, prefix: str) -> str:
    return f"{prefix}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"


def _described(spec: Spec) -> str:
    sizes = ", ".join(map(str, spec.shape)).replace("*/", "* /")
    return f"{spec.name.replace('*/', '* /')}: {spec.dtype.name} ({sizes})" + (", allocated by the run" if spec.data_dependent else "")
