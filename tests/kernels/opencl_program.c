// SPDX-License-Identifier: Apache-2.0
//
// What `run --kernels` runs on OpenCL: three steps of a training, with markers,
// that starts no session. It asks its own events how long its kernels ran, and
// prints the sums by name: "gemm 1234".
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pprof/pprof.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 3, SIDE = 64 };

static const char source[] =
    "kernel void gemm(global float *c, global const float *a, int n) {"
    "  int row = get_global_id(0), column = get_global_id(1);"
    "  float sum = 0;"
    "  for (int i = 0; i < n; i++) sum += a[row * n + i] * a[i * n + column];"
    "  c[row * n + column] = sum;"
    "}"
    "kernel void relu(global float *c, global const float *a, int n) {"
    "  int i = get_global_id(0);"
    "  c[i] = a[i] > 0 ? a[i] : 0;"
    "}";

static cl_context context;
static cl_command_queue queue;
static cl_kernel gemm, relu;
static cl_mem in, out;
static float host[SIDE * SIDE];

static void check(cl_int code, const char *what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, code);
  exit(1);
}

static cl_kernel make_kernel(cl_program program, const char *name) {
  cl_int code, n = SIDE;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  check(code, name);
  check(clSetKernelArg(kernel, 0, sizeof out, &out), "argument 0");
  check(clSetKernelArg(kernel, 1, sizeof in, &in), "argument 1");
  check(clSetKernelArg(kernel, 2, sizeof n, &n), "argument 2");
  return kernel;
}

// The queue is made without profiling: whoever traces sees to that.
static void set_up(void) {
  const char *text = source;
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  check(clGetPlatformIDs(1, &platform, NULL), "platform");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
        "device");
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "context");
  queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "queue");
  in = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL, &code);
  check(code, "buffer");
  out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL, &code);
  check(code, "buffer");
  cl_program program =
      clCreateProgramWithSource(context, 1, &text, NULL, &code);
  check(code, "program");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
  gemm = make_kernel(program, "gemm");
  relu = make_kernel(program, "relu");
}

static void run_kernel(cl_kernel kernel, cl_uint dims, cl_ulong *sum_ns) {
  const size_t all[] = {dims == 2 ? SIDE : SIDE * SIDE, SIDE};
  const size_t block[] = {16, 4};
  cl_event event;
  cl_ulong begin, end;
  check(clEnqueueNDRangeKernel(queue, kernel, dims, NULL, all, block, 0, NULL,
                               &event),
        "kernel");
  check(clWaitForEvents(1, &event), "wait");
  check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin,
                                &begin, NULL),
        "start");
  check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end,
                                &end, NULL),
        "end");
  check(clReleaseEvent(event), "release");
  *sum_ns += end - begin;
}

static void run_step(cl_ulong *gemm_ns, cl_ulong *relu_ns) {
  PPROF_SITE(load, "load", PPROF_CATEGORY_DATALOADER);
  PPROF_SITE(forward, "forward", PPROF_CATEGORY_FORWARD);
  PPROF_SITE(matmul, "matmul", PPROF_CATEGORY_OPERATOR);
  const float zero = 0;
  pprof_push(&load);
  check(clEnqueueWriteBuffer(queue, in, CL_FALSE, 0, sizeof host, host, 0, NULL,
                             NULL),
        "write");
  pprof_pop();
  pprof_push(&forward);
  pprof_push(&matmul);
  check(clEnqueueFillBuffer(queue, out, &zero, sizeof zero, 0, sizeof host, 0,
                            NULL, NULL),
        "fill");
  run_kernel(gemm, 2, gemm_ns);
  pprof_pop();
  run_kernel(relu, 1, relu_ns);
  pprof_pop();
  run_kernel(relu, 1, relu_ns);
  check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof host, host, 0, NULL,
                            NULL),
        "read");
  pprof_step(32);
}

int main(void) {
  cl_ulong gemm_ns = 0, relu_ns = 0;
  for (int i = 0; i < SIDE * SIDE; i++) host[i] = (float)(i % 7) - 3;
  set_up();
  for (int i = 0; i < STEPS; i++) run_step(&gemm_ns, &relu_ns);
  check(clFinish(queue), "finish");
  printf("gemm %llu\nrelu %llu\n", (unsigned long long)gemm_ns,
         (unsigned long long)relu_ns);
  return 0;
}
