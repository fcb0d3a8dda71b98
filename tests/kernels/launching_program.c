// SPDX-License-Identifier: Apache-2.0
//
// What `run --kernels` runs: launching_program CUPTI DRIVER: three steps of a
// training as a stand-in for libcupti tells of them, kernels of 1 ms in ranges,
// and work of a step that no range is around; with LAUNCH_GRAPH a graph's, with
// LAUNCH_CALLS a server's calls of the runtime, with LAUNCH_FLOWS requests that
// another thread serves; with LAUNCH_NOTHING one that only initializes CUDA.
// launching_program DRIVER: a program that has loaded CUDA's driver, and does
// nothing that is seen.
#include <dlfcn.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_cupti.h"

static fake_cupti *cupti;
static double ticks_a_ns;

static double monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void wait_ns(double ns) {
  double until = monotonic_ns() + ns;
  while (monotonic_ns() < until) {
  }
}

static void calibrate(void) {
  uint64_t ticks = cupti->now();
  double ns = monotonic_ns();
  wait_ns(20e6);
  ticks_a_ns = (double)(cupti->now() - ticks) / (monotonic_ns() - ns);
}

// It starts with its launch and has ended when this returns.
static void run_kernel(const char *name, double us) {
  ppi_cupti_kernel record = {.kind = PPI_CUPTI_KIND_CONCURRENT_KERNEL,
                             .context = 1,
                             .stream = 7,
                             .registers = 64,
                             .grid = {132, 1, 1},
                             .block = {256, 1, 1},
                             .dynamic_shared = 1024,
                             .name = name};
  record.correlation = cupti->call("cuLaunchKernel", 0, NULL, NULL);
  record.start = cupti->now();
  record.end = record.start + (uint64_t)(1e3 * us * ticks_a_ns);
  wait_ns(1e3 * us);
  cupti->deliver(&record, sizeof record);
}

static void run_copy(uint8_t kind, const char *call, uint64_t bytes) {
  ppi_cupti_memcpy record = {.kind = PPI_CUPTI_KIND_MEMCPY,
                             .copy_kind = kind,
                             .bytes = bytes,
                             .context = 1,
                             .stream = 7};
  record.correlation = cupti->call(call, 0, NULL, NULL);
  record.start = cupti->now();
  record.end = record.start + (uint64_t)(2e5 * ticks_a_ns);
  wait_ns(2e5);
  cupti->deliver(&record, sizeof record);
}

static void run_set(void) {
  ppi_cupti_memset record = {
      .kind = PPI_CUPTI_KIND_MEMSET, .bytes = 4096, .context = 1, .stream = 7};
  record.correlation = cupti->call("cuMemsetD8Async", 0, NULL, NULL);
  record.start = cupti->now();
  record.end = record.start + (uint64_t)(1e5 * ticks_a_ns);
  wait_ns(1e5);
  cupti->deliver(&record, sizeof record);
}

static void run_step(void) {
  PPROF_SITE(load, "load", PPROF_CATEGORY_DATALOADER);
  PPROF_SITE(forward, "forward", PPROF_CATEGORY_FORWARD);
  PPROF_SITE(matmul, "matmul", PPROF_CATEGORY_OPERATOR);
  PPROF_SITE(backward, "backward", PPROF_CATEGORY_BACKWARD);
  pprof_push(&load);
  run_copy(1, "cuMemcpyHtoDAsync_v2", 1 << 20);
  pprof_pop();
  pprof_push(&forward);
  pprof_push(&matmul);
  run_kernel("_Z4gemmIfEvPT_i", 1000);
  pprof_pop();
  run_kernel("relu", 500);
  pprof_pop();
  pprof_push(&backward);
  pprof_push(&matmul);
  run_set();
  run_kernel("_Z4gemmIfEvPT_i", 1000);
  run_kernel("_Z4gemmIfEvPT_i", 1000);
  pprof_pop();
  pprof_pop();
  run_kernel("stray", 250);
  pprof_step(32);
}

static void capture_node(void *node) {
  cupti->capture_node((uintptr_t)node);
}

static void run_node(uint32_t correlation, uint64_t node, const char *name) {
  ppi_cupti_kernel record = {.kind = PPI_CUPTI_KIND_CONCURRENT_KERNEL,
                             .context = 1,
                             .stream = 7,
                             .correlation = correlation,
                             .name = name,
                             .graph_node = node};
  record.start = cupti->now();
  record.end = record.start + (uint64_t)(1e5 * ticks_a_ns);
  wait_ns(1e5);
  cupti->deliver(&record, sizeof record);
}

// Three launches of a graph of two kernels, captured in the ranges of a model.
static void run_graph(void) {
  PPROF_SITE(build, "build", PPROF_CATEGORY_USER_DEFINED);
  PPROF_SITE(model, "model", PPROF_CATEGORY_FORWARD);
  PPROF_SITE(head, "head", PPROF_CATEGORY_OPERATOR);
  PPROF_SITE(decode, "decode", PPROF_CATEGORY_INFERENCE);
  pprof_push(&build);
  pprof_push(&model);
  cupti->call("cuLaunchKernel", 0, capture_node, (void *)1);
  pprof_push(&head);
  cupti->call("cuLaunchKernel", 0, capture_node, (void *)2);
  pprof_pop();
  pprof_pop();
  pprof_pop();
  cupti->clone_node(11, 1);
  cupti->clone_node(12, 2);
  for (int i = 0; i < 3; i++) {
    pprof_push(&decode);
    uint32_t correlation = cupti->call("cuGraphLaunch", 0, NULL, NULL);
    run_node(correlation, 1011, "gemm");
    run_node(correlation, 1012, "softmax");
    pprof_pop();
  }
}

// Three requests: memory that is taken, a kernel, a wait, and that it is given
// back.
static void run_calls(void) {
  PPROF_SITE(serve, "serve", PPROF_CATEGORY_INFERENCE);
  for (int i = 0; i < 3; i++) {
    ppi_cupti_memory memory = {.kind = PPI_CUPTI_KIND_MEMORY2,
                               .operation = PPI_CUPTI_MEMORY_TAKEN,
                               .memory_kind = PPI_CUPTI_MEMORY_DEVICE,
                               .bytes = 3 << 20};
    ppi_cupti_kernel kernel = {.kind = PPI_CUPTI_KIND_CONCURRENT_KERNEL,
                               .context = 1,
                               .stream = 7,
                               .name = "relu"};
    pprof_push(&serve);
    memory.time = cupti->now();
    memory.correlation = cupti->call("cudaMalloc", 0, NULL, NULL);
    cupti->deliver(&memory, sizeof memory);
    kernel.correlation = cupti->call("cudaLaunchKernel", 0, NULL, NULL);
    kernel.start = cupti->now();
    wait_ns(1e5);
    kernel.end = cupti->now();
    cupti->deliver(&kernel, sizeof kernel);
    cupti->call("cudaStreamSynchronize", 0, NULL, NULL);
    memory.operation = PPI_CUPTI_MEMORY_GIVEN;
    memory.time = cupti->now();
    memory.correlation = cupti->call("cuMemFree_v2", 0, NULL, NULL);
    cupti->deliver(&memory, sizeof memory);
    pprof_pop();
  }
}

// Two requests, each a range across threads with a flow; another thread serves
// them, one after the other.
static void *run_worker(void *argument) {
  PPROF_SITE(infer, "infer", PPROF_CATEGORY_INFERENCE);
  (void)argument;
  for (uint64_t flow = 1; flow <= 2; flow++) {
    pprof_push(&infer);
    pprof_flow(flow);
    run_kernel("relu", 500);
    pprof_pop();
  }
  return NULL;
}

static void run_flows(void) {
  PPROF_SITE(request, "request", PPROF_CATEGORY_USER_DEFINED);
  pprof_range ranges[2];
  pthread_t worker;
  for (uint64_t flow = 1; flow <= 2; flow++) {
    ranges[flow - 1] = pprof_range_begin(&request);
    pprof_range_flow(ranges[flow - 1], flow);
  }
  if (pthread_create(&worker, NULL, run_worker, NULL) != 0) abort();
  pthread_join(worker, NULL);
  for (int i = 0; i < 2; i++) pprof_range_end(ranges[i]);
}

static void end_cuda(void) {
  cupti->end();
}

// CUDA's handler for the process's end comes with its initialization.
static int initialize(void) {
  PPROF_SITE(look, "look for devices", PPROF_CATEGORY_USER_DEFINED);
  pprof_push(&look);
  if (atexit(end_cuda) != 0) return 1;
  cupti->initialize();
  pprof_pop();
  return 0;
}

static int train(void *library) {
  void *get = dlsym(library, "fake_cupti_get");
  fake_cupti_get_type *get_cupti;
  memcpy(&get_cupti, &get, sizeof get_cupti);
  cupti = get_cupti();
  cupti->records_a_buffer = 1000;
  if (pprof_start(NULL, NULL) != PPROF_STATUS_OK || !cupti->now) return 1;
  if (getenv("LAUNCH_NOTHING")) return initialize();
  calibrate();
  if (getenv("LAUNCH_GRAPH"))
    run_graph();
  else if (getenv("LAUNCH_FLOWS"))
    run_flows();
  else if (getenv("LAUNCH_CALLS"))
    run_calls();
  else
    for (int i = 0; i < 3; i++) run_step();
  return pprof_stop(NULL) == PPROF_STATUS_OK ? 0 : 1;
}

static int use_driver(void) {
  PPROF_SITE(stage, "stage", PPROF_CATEGORY_USER_DEFINED);
  if (pprof_start(NULL, NULL) != PPROF_STATUS_OK) return 1;
  pprof_push(&stage);
  wait_ns(1e6);
  pprof_pop();
  return pprof_stop(NULL) == PPROF_STATUS_OK ? 0 : 1;
}

int main(int argc, char **argv) {
  void *first = NULL;
  for (int i = 1; i < argc; i++) {
    void *library = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
    if (i == 1) first = library;
  }
  return argc > 2 ? train(first) : use_driver();
}
