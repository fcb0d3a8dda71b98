// SPDX-License-Identifier: Apache-2.0
//
// Wraps CUDA, clocks and threads for the parts of the device benchmark.
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device_bench.h"
#include "device_kernels.h"

void bench_check(cudaError_t error, const char *call) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "device: %s: %s\n", call, cudaGetErrorString(error));
  exit(1);
}

bool bench_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("device: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return false;
}

void bench_thread_begin(void) {
  BENCH_CHECK(cudaSetDevice(0));
}

void bench_record(const bench_run *run, cudaEvent_t event,
                  cudaStream_t stream) {
  // The numbers of the driver's errors are the Runtime's.
  bench_check((cudaError_t)run->record(event, stream), "cuEventRecord");
}

uint64_t bench_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_sleep_us(unsigned us) {
  struct timespec time = {us / 1000000, (long)(us % 1000000) * 1000};
  nanosleep(&time, NULL);
}

cudaStream_t bench_stream_create(void) {
  cudaStream_t stream;
  BENCH_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

cudaEvent_t bench_event_create(void) {
  cudaEvent_t event;
  BENCH_CHECK(cudaEventCreate(&event));
  return event;
}

double bench_elapsed_us(cudaEvent_t from, cudaEvent_t to) {
  float ms = 0;
  BENCH_CHECK(cudaEventElapsedTime(&ms, from, to));
  return (double)ms * 1000;
}

// A gate left closed opens by itself, so that no mistake hangs the GPU.
#define GATE_LIMIT_NS 2000000000u

bench_gate bench_gate_create(void) {
  bench_gate gate;
  BENCH_CHECK(cudaHostAlloc((void **)&gate.open, sizeof *gate.open,
                            cudaHostAllocMapped));
  *gate.open = 1;
  return gate;
}

void bench_gate_close(bench_gate *gate, cudaStream_t stream) {
  __atomic_store_n(gate->open, 0, __ATOMIC_RELEASE);
  bench_launch_gate(stream, gate->open, GATE_LIMIT_NS);
}

void bench_gate_open(bench_gate *gate) {
  __atomic_store_n(gate->open, 1, __ATOMIC_RELEASE);
}

void bench_gate_destroy(bench_gate *gate) {
  BENCH_CHECK(cudaFreeHost(gate->open));
  gate->open = NULL;
}

void bench_barrier_wait(bench_barrier *barrier) {
  unsigned round = __atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) ==
      barrier->num) {
    __atomic_store_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&barrier->round, round + 1, __ATOMIC_RELEASE);
    return;
  }
  unsigned spins = 0;
  while (__atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE) == round)
    if (++spins > 10000) sched_yield();
}
