// SPDX-License-Identifier: Apache-2.0
//
// The models of clocks_cuda.cu, and how its CUDA calls are checked. Nothing
// of pprof is in here.
#ifndef EXAMPLES_CLOCKS_CUDA_MODELS_H_
#define EXAMPLES_CLOCKS_CUDA_MODELS_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kSize = 1024;  // rows and columns of all matrices

inline void Check(cudaError_t error, const char *call) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "clocks_cuda: %s: %s\n", call, cudaGetErrorString(error));
  exit(1);
}
#define CHECK(call) Check(call, #call)

// The models: fully connected layers, out = max(0, in * weights). A block
// computes 64 x 64 values, a thread 4 x 4 of them.
static __global__ void Layer(const float *in, const float *weights,
                             float *out) {
  constexpr int kTile = 64, kDepth = 16, kThreads = 256;
  __shared__ float rows[kDepth][kTile + 1], columns[kDepth][kTile];
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  const int y = threadIdx.x / 16, x = threadIdx.x % 16;
  float sums[4][4] = {};
  for (int k0 = 0; k0 < kSize; k0 += kDepth) {
    for (int i = threadIdx.x; i < kDepth * kTile; i += kThreads) {
      rows[i % kDepth][i / kDepth] =
          in[(row0 + i / kDepth) * kSize + k0 + i % kDepth];
      columns[i / kTile][i % kTile] =
          weights[(k0 + i / kTile) * kSize + column0 + i % kTile];
    }
    __syncthreads();
    for (int k = 0; k < kDepth; k++)
      for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
          sums[r][c] += rows[k][y + 16 * r] * columns[k][x + 16 * c];
    __syncthreads();
  }
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++)
      out[(row0 + y + 16 * r) * kSize + column0 + x + 16 * c] =
          fmaxf(sums[r][c], 0);
}

// Where the detector saw nothing the classifier is not to look.
static __global__ void Mask(const float *scores, float *image) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (scores[i] == 0) image[i] = 0;
}

static __global__ void FillWeights(float *weights, unsigned seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = (i + seed) * 2654435761u;
  bits = (bits ^ bits >> 15) * 2246822519u;
  bits ^= bits >> 13;
  // So spread that values neither grow nor shrink from layer to layer.
  weights[i] = (bits * 0x1p-31f - 1) * sqrtf(6.0f / kSize);
}

inline float *Matrix() {
  void *matrix = nullptr;
  CHECK(cudaMalloc(&matrix, sizeof(float) * kSize * kSize));
  return static_cast<float *>(matrix);
}

class Model {
 public:
  Model(int num_layers, unsigned seed) {
    for (int i = 0; i < num_layers; i++) {
      weights_.push_back(Matrix());
      FillWeights<<<kSize * kSize / 256, 256>>>(weights_.back(), seed + i);
    }
    for (float *&between : between_) between = Matrix();
  }
  ~Model() {
    for (float *weights : weights_) cudaFree(weights);
    for (float *between : between_) cudaFree(between);
  }
  // Answers where the result will be.
  float *Submit(const float *in, cudaStream_t stream) {
    float *out = nullptr;
    for (size_t i = 0; i < weights_.size(); i++) {
      out = between_[i % 2];
      Layer<<<dim3(kSize / 64, kSize / 64), 256, 0, stream>>>(in, weights_[i],
                                                              out);
      in = out;
    }
    return out;
  }

 private:
  std::vector<float *> weights_;
  float *between_[2];
};

#endif  // EXAMPLES_CLOCKS_CUDA_MODELS_H_
