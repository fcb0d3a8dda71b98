// SPDX-License-Identifier: Apache-2.0
//
// fanout A B C UNITS: a request goes to three shards at once, of so many
// milliseconds, and on with the last of their answers; two are under way.
// Prints as pipeline.c does.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "pprof/pprof.h"
#include "pprof/pprof.hpp"

namespace {

using Clock = std::chrono::steady_clock;
const bool has_flows = !getenv("REAL_FLOWS");
using Ms = std::chrono::duration<double, std::milli>;

void Shard(const char *name, double ms, uint64_t flow) {
  pprof_push_name(name, PPROF_CATEGORY_USER_DEFINED);
  if (has_flows) pprof_flow(flow);
  std::this_thread::sleep_for(Ms(ms));
  pprof_pop();
}

void Merge(uint64_t flow) {
  PPROF_SCOPE("merge");
  if (has_flows) pprof_flow(flow);
  std::this_thread::sleep_for(Ms(1));
}

double Serve(const double (&shards)[3], uint64_t flow) {
  static pprof_site site = {
      "request", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}};
  auto begin = Clock::now();
  pprof_range request = pprof_range_begin(&site);
  if (has_flows) pprof_range_flow(request, flow);
  std::vector<std::future<void>> answers;
  const char *names[] = {"shard_a", "shard_b", "shard_c"};
  for (int i = 0; i < 3; i++)
    answers.push_back(
        std::async(std::launch::async, Shard, names[i], shards[i], flow));
  for (auto &answer : answers) answer.get();
  Merge(flow);
  pprof_range_end(request);
  return Ms(Clock::now() - begin).count();
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5 || pprof_start(nullptr, nullptr) != PPROF_STATUS_OK) return 1;
  const double shards[3] = {atof(argv[1]), atof(argv[2]), atof(argv[3])};
  const uint64_t num_units = strtoull(argv[4], nullptr, 10);
  std::vector<double> ms;
  std::mutex mutex;
  uint64_t next = 0;
  auto serve_all = [&] {
    std::unique_lock<std::mutex> lock(mutex);
    while (next < num_units) {
      uint64_t flow = ++next;
      lock.unlock();
      double took = Serve(shards, flow);
      lock.lock();
      ms.push_back(took);
    }
  };
  auto begin = Clock::now();
  std::thread other(serve_all);
  serve_all();
  other.join();
  double seconds = Ms(Clock::now() - begin).count() / 1000;
  if (pprof_stop(nullptr) != PPROF_STATUS_OK) return 1;
  double sum = 0;
  for (double one : ms) sum += one;
  std::sort(ms.begin(), ms.end());
  double num = static_cast<double>(ms.size());
  printf("%g %g %g %g\n", num / seconds, sum / num, ms[ms.size() * 99 / 100],
         sum / num);
}
