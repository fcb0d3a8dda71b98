// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of clocks.h on the first OpenCL device, timed in four ways. With
// PoCL that is the CPU: its queue is worked off by other threads, so host
// clocks are wrong there as they are with a GPU.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "clocks.h"

namespace {

constexpr int kSize = 128;  // rows and columns of all matrices
constexpr int kDetectorLayers = 10, kClassifierLayers = 2;

// Layers, out = max(0, in * weights): one work item makes 4 values of a row.
constexpr char kSource[] =
    "kernel void layer(global const float *in, global const float *weights,"
    "                  global float *out) {"
    "  int column = get_global_id(0), row = get_global_id(1);"
    "  int size = get_global_size(1);"
    "  float4 sum = 0;"
    "  for (int k = 0; k < size; k++)"
    "    sum += in[row * size + k] * vload4(k * size / 4 + column, weights);"
    "  vstore4(fmax(sum, 0.0f), row * size / 4 + column, out);"
    "}"
    "kernel void mask(global const float *scores, global float *image) {"
    "  int i = get_global_id(0);"
    "  if (scores[i] == 0) image[i] = 0;"
    "}";

void Check(cl_int code, const char *call) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "clocks_opencl: %s: OpenCL error %d\n", call,
          static_cast<int>(code));
  exit(1);
}
#define CHECK(call) Check(call, #call)

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_kernel layer = nullptr, mask = nullptr;
  char name[128] = "";
};

cl_kernel MakeKernel(cl_program program, const char *name) {
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  Check(code, name);
  return kernel;
}

Device OpenDevice() {
  Device device;
  cl_platform_id platform = nullptr;
  cl_int code = CL_SUCCESS;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device.id, nullptr));
  CHECK(clGetDeviceInfo(device.id, CL_DEVICE_NAME, sizeof device.name,
                        device.name, nullptr));
  device.context =
      clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &code);
  Check(code, "clCreateContext");
  device.queue = clCreateCommandQueue(device.context, device.id,
                                      CL_QUEUE_PROFILING_ENABLE, &code);
  Check(code, "clCreateCommandQueue");
  const char *source = kSource;
  cl_program program =
      clCreateProgramWithSource(device.context, 1, &source, nullptr, &code);
  Check(code, "clCreateProgramWithSource");
  CHECK(clBuildProgram(program, 1, &device.id, "", nullptr, nullptr));
  device.layer = MakeKernel(program, "layer");
  device.mask = MakeKernel(program, "mask");
  clReleaseProgram(program);
  return device;
}

// So spread that values neither grow nor shrink from layer to layer.
std::vector<float> MakeWeights(unsigned seed) {
  std::vector<float> weights(static_cast<size_t>(kSize) * kSize);
  for (size_t i = 0; i < weights.size(); i++) {
    uint32_t bits = (static_cast<uint32_t>(i) + seed) * 2654435761u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    bits ^= bits >> 13;
    weights[i] =
        (static_cast<float>(bits) * 0x1p-31f - 1) * sqrtf(6.0f / kSize);
  }
  return weights;
}

class OpenclPipeline : public Pipeline {
 public:
  explicit OpenclPipeline(const Device &device) : on_(device) {
    for (unsigned i = 0; i < kDetectorLayers + kClassifierLayers; i++)
      weights_.push_back(Matrix(MakeWeights(i + 1)));
    input_ = Matrix(MakeWeights(1007));
    scores_ = Matrix(MakeWeights(0));
    image_ = Matrix(MakeWeights(0));
    for (cl_mem &between : between_) between = Matrix(MakeWeights(0));
  }
  ~OpenclPipeline() override {
    for (cl_event event : events_)
      if (event) clReleaseEvent(event);
    for (cl_mem weights : weights_) clReleaseMemObject(weights);
    for (cl_mem other : {input_, scores_, image_, between_[0], between_[1]})
      clReleaseMemObject(other);
  }
  void SubmitDetector() override {
    Layers(input_, 0, kDetectorLayers, scores_);
  }
  void ShrinkFrame() override {
    frame_.Shrink(shrunk_.data(), kSize);
  }
  void SubmitClassifier() override {
    const size_t size = shrunk_.size();
    CHECK(clEnqueueWriteBuffer(on_.queue, image_, CL_FALSE, 0, kBytes,
                               shrunk_.data(), 0, nullptr, nullptr));
    CHECK(clSetKernelArg(on_.mask, 0, sizeof scores_, &scores_));
    CHECK(clSetKernelArg(on_.mask, 1, sizeof image_, &image_));
    CHECK(clEnqueueNDRangeKernel(on_.queue, on_.mask, 1, nullptr, &size,
                                 nullptr, 0, nullptr, nullptr));
    Layers(image_, kDetectorLayers, kClassifierLayers, between_[1]);
    CHECK(clEnqueueReadBuffer(on_.queue, between_[1], CL_FALSE, 0, kBytes,
                              result_.data(), 0, nullptr, nullptr));
    CHECK(clFlush(on_.queue));
  }
  void Wait() override {
    CHECK(clFinish(on_.queue));
  }
  // A marker is done when all before it is.
  void Record(int event) override {
    if (events_[event]) clReleaseEvent(events_[event]);
    CHECK(clEnqueueMarkerWithWaitList(on_.queue, 0, nullptr, &events_[event]));
  }
  double ElapsedMs(int from, int to) override {
    return static_cast<double>(EndNs(to) - EndNs(from)) / 1e6;
  }
  std::vector<float> result() const override {
    return result_;
  }
  pprof_device *device() const override {
    return pprof_device_get(pprof_backend_opencl(), 0);
  }
  void *stream() const override {
    return on_.queue;
  }

 private:
  static constexpr size_t kBytes = sizeof(float) * kSize * kSize;

  cl_mem Matrix(std::vector<float> content) const {
    cl_int code = CL_SUCCESS;
    cl_mem matrix =
        clCreateBuffer(on_.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       kBytes, content.data(), &code);
    Check(code, "clCreateBuffer");
    return matrix;
  }
  void Layers(cl_mem in, int first, int num, cl_mem out) {
    const size_t size[2] = {kSize / 4, kSize};
    for (int i = 0; i < num; i++) {
      const cl_mem to = i + 1 < num ? between_[i % 2] : out;
      const cl_mem arguments[3] = {in, weights_[first + i], to};
      for (cl_uint k = 0; k < 3; k++)
        CHECK(clSetKernelArg(on_.layer, k, sizeof(cl_mem), &arguments[k]));
      CHECK(clEnqueueNDRangeKernel(on_.queue, on_.layer, 2, nullptr, size,
                                   nullptr, 0, nullptr, nullptr));
      in = to;
    }
    CHECK(clFlush(on_.queue));
  }
  cl_ulong EndNs(int event) const {
    cl_ulong ns = 0;
    CHECK(clGetEventProfilingInfo(events_[event], CL_PROFILING_COMMAND_END,
                                  sizeof ns, &ns, nullptr));
    return ns;
  }

  const Device on_;
  const Frame frame_;
  std::vector<cl_mem> weights_;
  cl_mem input_, scores_, image_, between_[2];
  std::vector<float> shrunk_ = std::vector<float>(kSize * kSize);
  std::vector<float> result_ = shrunk_;
  cl_event events_[kNumEvents] = {};
};

}  // namespace

int main(int argc, char **argv) {
  const int num_rounds = ParseRounds(argc, argv);
  const Device device = OpenDevice();
  OpenclPipeline pipeline(device);
  return Compare(&pipeline, device.name, num_rounds);
}
