// SPDX-License-Identifier: Apache-2.0
//
// Runs the models on the first OpenCL device: a queue with profiling per
// model, nothing waited for at submission.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline_runner.h"

// One work item makes 8 output channels of one pixel, or of 4 rows.
static const char kernel_source[] =
    "kernel void convolve(global const float *in, global const float *weights,"
    "    global const float *bias, global float *out, int in_channels,"
    "    int out_channels, int in_size, int out_size, int window, int stride,"
    "    int relu) {"
    "  int group = get_global_id(0), x = get_global_id(1);"
    "  int y = get_global_id(2);"
    "  float8 sum = vload8(group, bias);"
    "  for (int ky = 0; ky < window; ky++) {"
    "    int from_y = y * stride + ky - window / 2;"
    "    if (from_y < 0 || from_y >= in_size) continue;"
    "    for (int kx = 0; kx < window; kx++) {"
    "      int from_x = x * stride + kx - window / 2;"
    "      if (from_x < 0 || from_x >= in_size) continue;"
    "      global const float *pixel ="
    "          in + (from_y * in_size + from_x) * in_channels;"
    "      global const float *row = weights +"
    "          (ky * window + kx) * in_channels * out_channels + group * 8;"
    "      for (int c = 0; c < in_channels; c++, row += out_channels)"
    "        sum += pixel[c] * vload8(0, row);"
    "    }"
    "  }"
    "  if (relu) sum = fmax(sum, (float8)(0));"
    "  vstore8(sum, group, out + (y * out_size + x) * out_channels);"
    "}"
    "kernel void multiply(global const float *in, global const float *weights,"
    "    global const float *bias, global float *out, int in_channels,"
    "    int out_channels, int relu) {"
    "  int group = get_global_id(0), first = get_global_id(1) * 4;"
    "  float8 sums[4];"
    "  for (int r = 0; r < 4; r++) sums[r] = vload8(group, bias);"
    "  for (int c = 0; c < in_channels; c++) {"
    "    float8 row = vload8(0, weights + c * out_channels + group * 8);"
    "    for (int r = 0; r < 4; r++)"
    "      sums[r] += in[(first + r) * in_channels + c] * row;"
    "  }"
    "  for (int r = 0; r < 4; r++) {"
    "    if (relu) sums[r] = fmax(sums[r], (float8)(0));"
    "    vstore8(sums[r], group, out + (first + r) * out_channels);"
    "  }"
    "}";

struct device_layer {
  cl_kernel kernel;
  cl_mem weights, bias;
};

struct device_slot {
  cl_mem tensors[MAX_LAYERS + 1];  // the input, then each layer's output
  cl_event done;
};

struct opencl_runner {
  struct runner base;
  struct model *models;
  pprof_device *device;
  cl_device_id id;
  cl_context context;
  cl_program program;
  cl_command_queue queues[NUM_MODELS];
  struct device_layer layers[NUM_MODELS][MAX_LAYERS];
  struct device_slot slots[NUM_MODELS][NUM_SLOTS];
};

static bool failed(struct opencl_runner *self, const char *call, cl_int code) {
  snprintf(self->base.error, sizeof(self->base.error), "%s: OpenCL error %d",
           call, (int)code);
  return false;
}

static bool bind_tensors(struct opencl_runner *self, int model, int index,
                         int slot) {
  const struct device_layer *on_device = &self->layers[model][index];
  cl_mem *tensors = self->slots[model][slot].tensors;
  cl_mem arguments[4] = {tensors[index], on_device->weights, on_device->bias,
                         tensors[index + 1]};
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < 4 && code == CL_SUCCESS; i++)
    code = clSetKernelArg(on_device->kernel, i, sizeof(cl_mem), &arguments[i]);
  return code == CL_SUCCESS || failed(self, "clSetKernelArg", code);
}

static bool enqueue_layer(struct opencl_runner *self, int model, int index,
                          int slot) {
  const struct layer *layer = &self->models[model].layers[index];
  size_t groups = (size_t)layer->out_channels / 8;
  size_t size = (size_t)layer->out_size;
  size_t convolution[3] = {groups, size, size};
  size_t product[3] = {groups, (size_t)layer->rows / 4, 1};
  if (!bind_tensors(self, model, index, slot)) return false;
  cl_int code = clEnqueueNDRangeKernel(
      self->queues[model], self->layers[model][index].kernel, 3, NULL,
      layer->kind == LAYER_CONVOLUTION ? convolution : product, NULL, 0, NULL,
      NULL);
  return code == CL_SUCCESS || failed(self, "clEnqueueNDRangeKernel", code);
}

static bool opencl_submit(struct runner *runner, int model, int slot,
                          const float *input, float *output) {
  struct opencl_runner *self = (struct opencl_runner *)runner;
  struct model *to_run = &self->models[model];
  struct device_slot *buffers = &self->slots[model][slot];
  cl_command_queue queue = self->queues[model];
  struct run_marks marks = {self->device, queue};
  size_t num_bytes = model_num_outputs(to_run) * sizeof(float);
  run_begin(&marks, to_run);
  cl_int code = clEnqueueWriteBuffer(queue, buffers->tensors[0], CL_FALSE, 0,
                                     model_num_inputs(to_run) * sizeof(float),
                                     input, 0, NULL, NULL);
  bool good = code == CL_SUCCESS || failed(self, "clEnqueueWriteBuffer", code);
  for (int i = 0; i < to_run->num_layers && good; i++) {
    run_layer(&marks, &to_run->layers[i]);
    for (int k = 0; k < to_run->layers[i].repeats && good; k++)
      good = enqueue_layer(self, model, i, slot);
  }
  run_download(&marks, to_run);
  if (good) {
    code = clEnqueueReadBuffer(queue, buffers->tensors[to_run->num_layers],
                               CL_FALSE, 0, num_bytes, output, 0, NULL,
                               &buffers->done);
    good = code == CL_SUCCESS || failed(self, "clEnqueueReadBuffer", code);
  }
  run_end(&marks);
  clFlush(queue);
  return good;
}

static bool opencl_wait(struct runner *runner, int model, int slot) {
  struct opencl_runner *self = (struct opencl_runner *)runner;
  struct device_slot *buffers = &self->slots[model][slot];
  cl_int code = clWaitForEvents(1, &buffers->done);
  clReleaseEvent(buffers->done);
  buffers->done = NULL;
  return code == CL_SUCCESS || failed(self, "clWaitForEvents", code);
}

static void destroy_model(struct opencl_runner *self, int model) {
  for (int i = 0; i < MAX_LAYERS; i++) {
    struct device_layer *layer = &self->layers[model][i];
    if (layer->kernel) clReleaseKernel(layer->kernel);
    if (layer->weights) clReleaseMemObject(layer->weights);
    if (layer->bias) clReleaseMemObject(layer->bias);
  }
  for (int s = 0; s < NUM_SLOTS; s++) {
    for (int i = 0; i <= MAX_LAYERS; i++) {
      cl_mem tensor = self->slots[model][s].tensors[i];
      if (tensor) clReleaseMemObject(tensor);
    }
  }
}

static void opencl_destroy(struct runner *runner) {
  struct opencl_runner *self = (struct opencl_runner *)runner;
  for (int m = 0; m < NUM_MODELS; m++) {
    if (self->queues[m]) clFinish(self->queues[m]);
    destroy_model(self, m);
    if (self->queues[m]) clReleaseCommandQueue(self->queues[m]);
  }
  if (self->program) clReleaseProgram(self->program);
  if (self->context) clReleaseContext(self->context);
  free(self);
}

static bool find_device(struct opencl_runner *self) {
  cl_platform_id platforms[8];
  cl_uint num_platforms = 0;
  cl_int code = clGetPlatformIDs(8, platforms, &num_platforms);
  if (code != CL_SUCCESS || num_platforms == 0)
    return failed(self, "no platform found: clGetPlatformIDs", code);
  for (cl_uint p = 0; p < num_platforms && p < 8; p++) {
    code = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 1, &self->id, NULL);
    if (code == CL_SUCCESS) break;
  }
  if (code != CL_SUCCESS)
    return failed(self, "no device found: clGetDeviceIDs", code);
  clGetDeviceInfo(self->id, CL_DEVICE_NAME, sizeof(self->base.description),
                  self->base.description, NULL);
  self->context = clCreateContext(NULL, 1, &self->id, NULL, NULL, &code);
  return code == CL_SUCCESS || failed(self, "clCreateContext", code);
}

static bool build_program(struct opencl_runner *self) {
  const char *source = kernel_source;
  cl_int code;
  self->program =
      clCreateProgramWithSource(self->context, 1, &source, NULL, &code);
  if (code != CL_SUCCESS)
    return failed(self, "clCreateProgramWithSource", code);
  code = clBuildProgram(self->program, 1, &self->id, "", NULL, NULL);
  if (code == CL_SUCCESS) return true;
  size_t used = (size_t)snprintf(self->base.error, sizeof(self->base.error),
                                 "clBuildProgram: %d: ", (int)code);
  clGetProgramBuildInfo(self->program, self->id, CL_PROGRAM_BUILD_LOG,
                        sizeof(self->base.error) - used,
                        self->base.error + used, NULL);
  return false;
}

static cl_mem make_buffer(struct opencl_runner *self, size_t num_floats,
                          float *content) {
  cl_int code;
  cl_mem_flags flags = CL_MEM_READ_WRITE | (content ? CL_MEM_COPY_HOST_PTR : 0);
  cl_mem buffer = clCreateBuffer(self->context, flags,
                                 num_floats * sizeof(float), content, &code);
  if (code != CL_SUCCESS) failed(self, "clCreateBuffer", code);
  return buffer;
}

static bool set_shape(struct opencl_runner *self, int model, int index) {
  const struct layer *layer = &self->models[model].layers[index];
  cl_int shape[7] = {layer->in_channels, layer->out_channels, layer->in_size,
                     layer->out_size,    layer->kernel,       layer->stride,
                     layer->relu};
  cl_int product_shape[3] = {layer->in_channels, layer->out_channels,
                             layer->relu};
  bool convolution = layer->kind == LAYER_CONVOLUTION;
  const cl_int *values = convolution ? shape : product_shape;
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < (convolution ? 7u : 3u) && code == CL_SUCCESS; i++)
    code = clSetKernelArg(self->layers[model][index].kernel, 4 + i,
                          sizeof(cl_int), &values[i]);
  return code == CL_SUCCESS || failed(self, "clSetKernelArg", code);
}

static bool load_layer(struct opencl_runner *self, int model, int index) {
  struct layer *layer = &self->models[model].layers[index];
  struct device_layer *on_device = &self->layers[model][index];
  cl_int code;
  on_device->kernel = clCreateKernel(
      self->program, layer->kind == LAYER_CONVOLUTION ? "convolve" : "multiply",
      &code);
  if (code != CL_SUCCESS) return failed(self, "clCreateKernel", code);
  on_device->weights =
      make_buffer(self, layer_num_weights(layer), layer->weights);
  on_device->bias = make_buffer(self, (size_t)layer->out_channels, layer->bias);
  for (int s = 0; s < NUM_SLOTS; s++) {
    cl_mem *tensors = self->slots[model][s].tensors;
    if (index == 0)
      tensors[0] = make_buffer(self, layer_num_inputs(layer), NULL);
    tensors[index + 1] = make_buffer(self, layer_num_outputs(layer), NULL);
    if (!tensors[0] || !tensors[index + 1]) return false;
  }
  return on_device->weights && on_device->bias && set_shape(self, model, index);
}

static bool load_model(struct opencl_runner *self, int model) {
  static const char *const names[NUM_MODELS] = {"detector", "classifier"};
  cl_int code;
  self->queues[model] = clCreateCommandQueue(self->context, self->id,
                                             CL_QUEUE_PROFILING_ENABLE, &code);
  if (code != CL_SUCCESS) return failed(self, "clCreateCommandQueue", code);
  pprof_stream_name(self->device, self->queues[model], names[model]);
  for (int i = 0; i < self->models[model].num_layers; i++)
    if (!load_layer(self, model, i)) return false;
  return true;
}

struct runner *runner_create_opencl(struct model *models, char *why_not,
                                    size_t why_not_size) {
  struct opencl_runner *self = calloc(1, sizeof(*self));
  if (!self) {
    snprintf(why_not, why_not_size, "out of memory");
    return NULL;
  }
  self->base = (struct runner){.name = "opencl",
                               .submit = opencl_submit,
                               .wait = opencl_wait,
                               .destroy = opencl_destroy};
  self->models = models;
  self->device = pprof_device_get(pprof_backend_opencl(), 0);
  bool good = find_device(self) && build_program(self);
  for (int m = 0; m < NUM_MODELS && good; m++) good = load_model(self, m);
  if (good) return &self->base;
  snprintf(why_not, why_not_size, "%s", self->base.error);
  opencl_destroy(&self->base);
  return NULL;
}
