/* Outputs whose size depends on the data are allocated by the run. Reads a threshold, prints what is above it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "filter.h"

int main(int count, char **words) {
  float x[] = {0.25f, 0.75f, -1.0f, 2.0f, 0.5f}, threshold = count > 1 ? strtof(words[1], NULL) : 0.5f;
  int64_t x_shape[1] = {5}, values_shape[1], positions_shape[1];
  DLTensor in = {.data = x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = x_shape};
  DLTensor least = {.data = &threshold, .device = {kDLCPU, 0}, .ndim = 0, .dtype = {kDLFloat, 32, 1}};
  DLTensor values = {.data = NULL, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = values_shape};
  DLTensor positions = {.data = NULL, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = positions_shape};
  int32_t code = filter_run(&in, &least, &values, &positions);
  if (code) {
    fprintf(stderr, "%s\n", filter_error(code));
    return 1;
  }
  for (int64_t i = 0; i < values_shape[0]; ++i) printf("%" PRId64 " %g\n", ((int64_t *)positions.data)[i], ((float *)values.data)[i]);
  filter_free(values.data);
  filter_free(positions.data);
  return 0;
}
