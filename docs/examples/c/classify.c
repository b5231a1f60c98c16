/* Runs a model with memory of the caller's, after asking it for the size of its output. Prints the outputs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "net.h"

int main(void) {
  enum { batch = 5, features = 16 };
  float x[batch * features];
  for (int i = 0; i < batch * features; ++i) x[i] = (float)i / (batch * features);
  int64_t x_shape[2] = {batch, features}, y_shape[2];
  DLTensor in = {.data = x, .device = {kDLCPU, 0}, .ndim = net_input_ndim(0), .dtype = net_input_dtype(0), .shape = x_shape};

  DLTensor *inputs[] = {&in};
  int32_t code = net_output_sizes(inputs, 0, y_shape);
  if (code) {
    fprintf(stderr, "%s\n", net_error(code));
    return 1;
  }
  float *y = malloc(sizeof(float) * (size_t)(y_shape[0] * y_shape[1]));
  DLTensor out = {.data = y, .device = {kDLCPU, 0}, .ndim = 2, .dtype = net_output_dtype(0), .shape = y_shape};

  /* A workspace keeps the memory of intermediate values between runs. */
  onemlir_options options = {.threads = 1, .workspace = net_workspace_create()};
  onemlir_detail detail;
  for (int run = 0; run < 3; ++run) {
    code = net_run_with(&options, &detail, &in, &out);
    if (code) {
      fprintf(stderr, "%s: found %" PRId64 ", expected %" PRId64 "\n", net_error(code), detail.found, detail.expected);
      return 1;
    }
  }
  for (int64_t i = 0; i < y_shape[0] * y_shape[1]; ++i) printf("%.9g\n", y[i]);

  x_shape[1] = 15; /* a wrong shape is refused, with what was found and expected */
  code = net_run_with(&options, &detail, &in, &out);
  fprintf(stderr, "%s: found %" PRId64 ", expected %" PRId64 "\n", net_error(code), detail.found, detail.expected);
  net_workspace_destroy(options.workspace);
  free(y);
  return code == 0;
}
