// Hands the model the program's own way of running loops on threads, here one std::thread a part. Prints the outputs.
#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>
#include "net.h"

static void parallel_for(void *pool, onemlir_body body, void *context, int64_t count, int64_t grain) {
  const int64_t parts = std::min<int64_t>(*static_cast<int64_t *>(pool), (count + grain - 1) / std::max<int64_t>(grain, 1));
  std::vector<std::thread> threads;
  for (int64_t part = 1; part < parts; ++part)
    threads.emplace_back([=] { body(context, count * part / parts, count * (part + 1) / parts); });
  if (parts > 0) body(context, 0, count / parts);
  for (auto &thread : threads) thread.join();
}

int main() {
  std::vector<int64_t> x_shape{5, 16}, y_shape{5, 4};
  std::vector<float> x(5 * 16), y(5 * 4);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 80.0f;
  DLTensor in{x.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, x_shape.data(), nullptr, 0};
  DLTensor out{y.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, y_shape.data(), nullptr, 0};
  int64_t parts = 4;
  onemlir_options options{};
  options.threads = 4;
  options.parallel_for = parallel_for;
  options.pool = &parts;
  const int32_t code = net_run_with(&options, nullptr, &in, &out);
  if (code) {
    std::fprintf(stderr, "%s\n", net_error(code));
    return 1;
  }
  for (float value : y) std::printf("%.9g\n", value);
  return 0;
}
