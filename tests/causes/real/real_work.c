// SPDX-License-Identifier: Apache-2.0
//
// Does the work of a stage: computes, waits, locks or runs on a device.
#include "real_work.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
static pprof_cpu_stream *stream;

static struct {
  pprof_device *device;
  cl_command_queue queue;
  cl_kernel kernel;
  double rounds_per_ms;
} opencl;

static uint64_t clock_ns(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

uint64_t real_now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

void real_sleep_until_ns(uint64_t at) {
  struct timespec until = {(time_t)(at / 1000000000u),
                           (long)(at % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) {
  }
}

static void sleep_ms(double ms) {
  real_sleep_until_ns(real_now_ns() + (uint64_t)(ms * 1e6));
}

// Processor time, however busy the machine is.
static void compute_ms(double ms) {
  uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(ms * 1e6);
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
    for (volatile int i = 0; i < 200; i++) {
    }
  }
}

static void with_lock_ms(double ms, bool is_marked) {
  PPROF_SITE(waiting, "cache lock", PPROF_CATEGORY_USER_DEFINED);
  PPROF_SITE(having, "cache update", PPROF_CATEGORY_USER_DEFINED);
  if (is_marked) pprof_push(&waiting);
  pthread_mutex_lock(&cache);
  if (is_marked) {
    pprof_pop();
    pprof_push(&having);
  }
  sleep_ms(ms);
  if (is_marked) pprof_pop();
  pthread_mutex_unlock(&cache);
}

static void sleep_on_device(void *argument) {
  sleep_ms(*(const double *)argument);
}

static void cpu_device_ms(double ms, uint64_t flow) {
  PPROF_SITE(model, "model", PPROF_CATEGORY_INFERENCE);
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  pprof_range range = pprof_device_range_begin(device, stream, &model);
  if (flow) pprof_range_flow(range, flow);
  if (pprof_cpu_stream_submit(stream, sleep_on_device, &ms)) exit(1);
  pprof_device_range_end(range, stream);
  pprof_cpu_stream_synchronize(stream);
}

static void check(cl_int code) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "pipeline: OpenCL error %d\n", (int)code);
  exit(1);
}

static void run_kernel(double ms) {
  size_t one = 1;
  cl_uint rounds = (cl_uint)(ms * opencl.rounds_per_ms);
  check(clSetKernelArg(opencl.kernel, 1, sizeof rounds, &rounds));
  check(clEnqueueNDRangeKernel(opencl.queue, opencl.kernel, 1, NULL, &one, NULL,
                               0, NULL, NULL));
}

static void opencl_ms(double ms, uint64_t flow) {
  PPROF_SITE(model, "kernel", PPROF_CATEGORY_INFERENCE);
  pprof_range range =
      pprof_device_range_begin(opencl.device, opencl.queue, &model);
  if (flow) pprof_range_flow(range, flow);
  run_kernel(ms);
  pprof_device_range_end(range, opencl.queue);
  check(clFinish(opencl.queue));
}

static void calibrate(void) {
  opencl.rounds_per_ms = 1e5;
  run_kernel(1);
  check(clFinish(opencl.queue));
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 5; i++) {
    uint64_t begin = real_now_ns();
    run_kernel(100);
    check(clFinish(opencl.queue));
    uint64_t took = real_now_ns() - begin;
    if (took < least) least = took;
  }
  opencl.rounds_per_ms *= 100 * 1e6 / (double)least;
}

static void start_opencl(void) {
  const char *source =
      "kernel void spin(global float *out, uint rounds) {"
      "  float x = out[0];"
      "  for (uint i = 0; i < rounds; i++) x = x * 0.999f + 1.0f;"
      "  out[0] = x; }";
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  check(clGetPlatformIDs(1, &platform, NULL));
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code);
  opencl.queue =
      clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
  check(code);
  cl_program program =
      clCreateProgramWithSource(context, 1, &source, NULL, &code);
  check(code);
  check(clBuildProgram(program, 1, &device, "", NULL, NULL));
  opencl.kernel = clCreateKernel(program, "spin", &code);
  check(code);
  cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &code);
  check(code);
  check(clSetKernelArg(opencl.kernel, 0, sizeof(cl_mem), &out));
  calibrate();
  opencl.device = pprof_device_get(pprof_backend_opencl(), 0);
}

void real_prepare(const char *work) {
  if (strchr(work, '#') && !stream && pprof_cpu_stream_create(&stream)) exit(1);
  if (strchr(work, '%') && !opencl.device) start_opencl();
}

void real_work(const char *work, uint64_t flow) {
  for (char *rest = NULL; *work; work = rest) {
    char kind = *work;
    bool is_kind = strchr("~@!#%", kind) != NULL;
    double ms = strtod(work + is_kind, &rest);
    if (rest == work + is_kind) exit(1);
    switch (kind) {
      case '~':
        sleep_ms(ms);
        break;
      case '@':
      case '!':
        with_lock_ms(ms, kind == '!');
        break;
      case '#':
        cpu_device_ms(ms, flow);
        break;
      case '%':
        opencl_ms(ms, flow);
        break;
      default:
        compute_ms(ms);
    }
  }
}
