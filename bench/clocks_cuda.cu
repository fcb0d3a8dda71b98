// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of clocks.h on a CUDA device, timed in four ways.
#include <cuda_runtime.h>
#include <pprof/cuda.h>
#include <pprof/pprof.h>

#include <cstddef>
#include <cstdio>
#include <vector>

#include "clocks.h"
#include "clocks_cuda_models.h"

namespace {

// 5 ms and 0.5 ms on an H200.
constexpr int kDetectorLayers = 37, kClassifierLayers = 2;

class CudaPipeline : public Pipeline {
 public:
  CudaPipeline()
      : detector_(kDetectorLayers, 1), classifier_(kClassifierLayers, 1000) {
    FillWeights<<<kSize * kSize / 256, 256>>>(input_, 7);
    CHECK(cudaHostAlloc(&shrunk_, kBytes, cudaHostAllocDefault));
    CHECK(cudaHostAlloc(&result_, kBytes, cudaHostAllocDefault));
    CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (cudaEvent_t &event : events_) CHECK(cudaEventCreate(&event));
    CHECK(cudaDeviceSynchronize());
  }
  ~CudaPipeline() override {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
    cudaStreamDestroy(stream_);
    cudaFreeHost(shrunk_);
    cudaFreeHost(result_);
    cudaFree(input_);
    cudaFree(image_);
  }
  void SubmitDetector() override {
    scores_ = detector_.Submit(input_, stream_);
  }
  void ShrinkFrame() override {
    frame_.Shrink(shrunk_, kSize);
  }
  void SubmitClassifier() override {
    CHECK(cudaMemcpyAsync(image_, shrunk_, kBytes, cudaMemcpyHostToDevice,
                          stream_));
    Mask<<<kSize * kSize / 256, 256, 0, stream_>>>(scores_, image_);
    const float *out = classifier_.Submit(image_, stream_);
    CHECK(
        cudaMemcpyAsync(result_, out, kBytes, cudaMemcpyDeviceToHost, stream_));
  }
  void Wait() override {
    CHECK(cudaGetLastError());  // of the launches
    CHECK(cudaStreamSynchronize(stream_));
  }
  void Record(int event) override {
    CHECK(cudaEventRecord(events_[event], stream_));
  }
  double ElapsedMs(int from, int to) override {
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, events_[from], events_[to]));
    return static_cast<double>(ms);
  }
  std::vector<float> result() const override {
    return std::vector<float>(result_, result_ + kSize * kSize);
  }
  pprof_device *device() const override {
    return pprof_device_get(pprof_backend_cuda(), 0);
  }
  void *stream() const override {
    return stream_;
  }

 private:
  static constexpr size_t kBytes = sizeof(float) * kSize * kSize;
  Model detector_, classifier_;
  Frame frame_;
  float *input_ = Matrix(), *image_ = Matrix();
  float *scores_ = nullptr, *shrunk_ = nullptr, *result_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[kNumEvents] = {};
};

}  // namespace

int main(int argc, char **argv) {
  const int num_rounds = ParseRounds(argc, argv);
  int num_devices = 0;
  cudaError_t error = cudaGetDeviceCount(&num_devices);
  if (error != cudaSuccess || num_devices == 0) {
    fprintf(stderr, "clocks_cuda: no CUDA device: %s\n",
            cudaGetErrorString(error));
    return 1;
  }
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CudaPipeline pipeline;
  return Compare(&pipeline, properties.name, num_rounds);
}
