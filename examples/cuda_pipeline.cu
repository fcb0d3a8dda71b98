// SPDX-License-Identifier: Apache-2.0
//
// A CUDA pipeline timed in three ways, to see what each way gets wrong:
//
//   detector (GPU) -> shrink the frame (CPU) -> classifier (GPU) -> wait
//
// The host submits the detector, shrinks the frame while the GPU works, submits
// the classifier and waits once. The ways are: host clocks around the
// submitting, a wait after each model, and pprof; beside them the pipeline runs
// without any timing. RunWithPprof is what you would write in your program.
// The other files hold the models and the table.
#include <cuda_runtime.h>
#include <getopt.h>
#include <pprof/cuda.h>
#include <pprof/pprof.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "cuda_pipeline_models.h"
#include "cuda_pipeline_table.h"

namespace {

// 5 ms and 0.5 ms on an H200.
constexpr int kDetectorLayers = 37, kClassifierLayers = 2;
// The CPU is to be done while the detector still runs.
constexpr int kFrameWidth = 1920, kFrameHeight = 1080;
constexpr int kIterations = 20;  // of each way in a round
constexpr char kLog[] = "cuda_pipeline.pplog";

// The pipeline.

class Pipeline {
 public:
  Pipeline()
      : detector_(kDetectorLayers, 1),
        classifier_(kClassifierLayers, 1000),
        frame_(static_cast<size_t>(kFrameWidth) * kFrameHeight) {
    for (size_t i = 0; i < frame_.size(); i++)
      frame_[i] = static_cast<uint8_t>(i * 7 + i / kFrameWidth * 13);
    FillWeights<<<kSize * kSize / 256, 256>>>(input_, 7);
    CHECK(cudaHostAlloc(&shrunk_, kBytes, cudaHostAllocDefault));
    CHECK(cudaHostAlloc(&result_, kBytes, cudaHostAllocDefault));
    CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
  }
  ~Pipeline() {
    cudaStreamDestroy(stream_);
    cudaFreeHost(shrunk_);
    cudaFreeHost(result_);
    cudaFree(input_);
    cudaFree(image_);
  }

  // Never inlined: each way of timing runs the very same instructions.
  __attribute__((noinline)) void SubmitDetector() {
    scores_ = detector_.Submit(input_, stream_);
  }

  // Averages the pixels under each value of the classifier's input.
  __attribute__((noinline)) void ShrinkFrame() {
    for (int y = 0; y < kSize; y++) {
      const int top = y * kFrameHeight / kSize;
      const int bottom = (y + 1) * kFrameHeight / kSize;
      for (int x = 0; x < kSize; x++) {
        const int left = x * kFrameWidth / kSize;
        const int right = (x + 1) * kFrameWidth / kSize;
        unsigned sum = 0;
        for (int v = top; v < bottom; v++)
          for (int u = left; u < right; u++) sum += frame_[v * kFrameWidth + u];
        shrunk_[y * kSize + x] =
            static_cast<float>(sum) /
            static_cast<float>((bottom - top) * (right - left) * 255);
      }
    }
  }

  __attribute__((noinline)) void SubmitClassifier() {
    CHECK(cudaMemcpyAsync(image_, shrunk_, kBytes, cudaMemcpyHostToDevice,
                          stream_));
    Mask<<<kSize * kSize / 256, 256, 0, stream_>>>(scores_, image_);
    const float *out = classifier_.Submit(image_, stream_);
    CHECK(
        cudaMemcpyAsync(result_, out, kBytes, cudaMemcpyDeviceToHost, stream_));
  }

  // The one wait of an iteration.
  __attribute__((noinline)) void Wait() {
    CHECK(cudaGetLastError());  // of the launches
    CHECK(cudaStreamSynchronize(stream_));
  }

  cudaStream_t stream() const {
    return stream_;
  }
  std::vector<float> result() const {
    return std::vector<float>(result_, result_ + kSize * kSize);
  }

 private:
  static constexpr size_t kBytes = sizeof(float) * kSize * kSize;
  Model detector_, classifier_;
  std::vector<uint8_t> frame_;
  float *input_ = Matrix(), *image_ = Matrix();
  float *scores_ = nullptr, *shrunk_ = nullptr, *result_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// The ways.

double NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

void RunBare(Pipeline *pipeline, Samples *) {
  pipeline->SubmitDetector();
  pipeline->ShrinkFrame();
  pipeline->SubmitClassifier();
  pipeline->Wait();
}

// Host clocks around what the host does.
void RunWithHostClocks(Pipeline *pipeline, Samples *samples) {
  const double start = NowMs();
  pipeline->SubmitDetector();
  const double submitted = NowMs();
  pipeline->ShrinkFrame();
  const double shrunk = NowMs();
  pipeline->SubmitClassifier();
  const double all_submitted = NowMs();
  pipeline->Wait();
  samples->stages[kWait].push_back(NowMs() - all_submitted);
  samples->stages[kDetector].push_back(submitted - start);
  samples->stages[kShrink].push_back(shrunk - submitted);
  samples->stages[kClassifier].push_back(all_submitted - shrunk);
}

// The same, with a wait before the clock is read after each model.
void RunWithSynchronize(Pipeline *pipeline, Samples *samples) {
  const double start = NowMs();
  pipeline->SubmitDetector();
  pipeline->Wait();
  const double detected = NowMs();
  pipeline->ShrinkFrame();
  const double shrunk = NowMs();
  pipeline->SubmitClassifier();
  pipeline->Wait();
  samples->stages[kClassifier].push_back(NowMs() - shrunk);
  samples->stages[kDetector].push_back(detected - start);
  samples->stages[kShrink].push_back(shrunk - detected);
}

// The bare pipeline with pprof's marks. The samples come later, to
// CollectEvents.
void RunWithPprof(Pipeline *pipeline, Samples *) {
  {
    PPROF_CUDA_SCOPE(pipeline->stream(), "detector");
    pipeline->SubmitDetector();
  }
  {
    PPROF_SCOPE_CAT("shrink", PPROF_CATEGORY_CPU_TASK);
    pipeline->ShrinkFrame();
  }
  {
    PPROF_CUDA_SCOPE(pipeline->stream(), "classifier");
    pipeline->SubmitClassifier();
  }
  {
    PPROF_SCOPE("wait");
    pipeline->Wait();
  }
  pprof_step(1);
}

// pprof's side: a session that writes a log, and a sink that picks the
// figures for the table. Most programs need only pprof_start and pprof_stop,
// and read the log with pprof-report.

struct Collector {
  pprof_sink sink;
  std::map<uint32_t, std::string> sites;
  Samples *samples;
};

pprof_status CollectDefinition(pprof_sink *sink, const pprof_definition *it) {
  auto *self = reinterpret_cast<Collector *>(sink);
  if (pprof_definition_get_kind(it) == PPROF_DEFINITION_SITE)
    self->sites[pprof_definition_id(it)] = pprof_definition_name(it);
  return PPROF_STATUS_OK;
}

pprof_status CollectEvents(pprof_sink *sink, const pprof_batch *batch) {
  auto *self = reinterpret_cast<Collector *>(sink);
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event &event = *pprof_batch_at(batch, i);
    if (event.flags & PPROF_FLAG_NO_DEVICE_TIME) continue;
    const uint64_t ns = event.kind == PPROF_KIND_DEVICE_RANGE
                            ? event.device_end_ns - event.device_start_ns
                            : event.end_ns - event.start_ns;
    for (int stage = 0; stage < kNumStages; stage++)
      if (self->sites[event.site] == kStageNames[stage])
        self->samples->stages[stage].push_back(static_cast<double>(ns) / 1e6);
  }
  return PPROF_STATUS_OK;
}

void CheckPprof(pprof_status status, const pprof_error &error) {
  if (status == PPROF_STATUS_OK) return;
  fprintf(stderr, "cuda_pipeline: %s: %s\n", pprof_status_string(status),
          error.text);
  exit(1);
}

pprof_session *StartSession(Collector *collector, cudaStream_t stream) {
  pprof_error error = {};
  pprof_session *session = nullptr;
  pprof_sink *log = nullptr;
  collector->sink.size = sizeof collector->sink;
  collector->sink.define = CollectDefinition;
  collector->sink.events = CollectEvents;
  // Named before the start, the stream has its events ready for the first
  // range.
  pprof_cuda_stream_name(stream, "models");
  CheckPprof(pprof_log_writer_create(kLog, &log, &error), error);
  CheckPprof(pprof_session_create(nullptr, &session, &error), error);
  CheckPprof(pprof_session_add_sink(session, log), error);
  CheckPprof(pprof_session_add_sink(session, &collector->sink), error);
  CheckPprof(pprof_session_start(session), error);
  return session;
}

// The comparison.

using Way = void (*)(Pipeline *, Samples *);

void Measure(Pipeline *pipeline, Way way, Samples *samples) {
  std::vector<double> round;
  for (int i = 0; i < kIterations; i++) {
    const double start = NowMs();
    way(pipeline, samples);
    round.push_back(NowMs() - start);
  }
  samples->iterations.insert(samples->iterations.end(), round.begin(),
                             round.end());
  samples->rounds.push_back(Median(round));
}

// A session for each round, so that nothing records during the other ways. Each
// writes the log anew; the last one's stays.
void MeasureWithPprof(Pipeline *pipeline, Samples *samples) {
  Collector collector = {};
  collector.samples = samples;
  pprof_session *session = StartSession(&collector, pipeline->stream());
  Measure(pipeline, RunWithPprof, samples);
  pprof_error error = {};
  CheckPprof(pprof_session_stop(session, &error), error);
  pprof_session_destroy(session);
}

int Compare(int num_rounds) {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  Pipeline pipeline;
  Samples warm_up;
  Measure(&pipeline, RunBare, &warm_up);
  const std::vector<float> expected = pipeline.result();
  // The ways take turns: what changes with time changes for all of them.
  Results results;
  for (int i = 0; i < num_rounds; i++) {
    Measure(&pipeline, RunBare, &results.bare);
    Measure(&pipeline, RunWithHostClocks, &results.host_clocks);
    Measure(&pipeline, RunWithSynchronize, &results.synchronize);
    MeasureWithPprof(&pipeline, &results.pprof);
    Measure(&pipeline, RunBare, &results.again);
  }
  printf("%s: medians in ms of %d rounds of %d iterations\n\n", properties.name,
         num_rounds, kIterations);
  PrintTable(results);
  if (pipeline.result() != expected) {
    fprintf(stderr, "cuda_pipeline: the results differ\n");
    return 1;
  }
  const std::vector<double> *timed = results.pprof.stages;
  if (timed[kDetector].empty() || timed[kClassifier].empty()) {
    fprintf(stderr,
            "cuda_pipeline: no device times; `pprof-report %s` says why\n",
            kLog);
    return 1;
  }
  Explain(results, kLog);
  return 0;
}

int Usage(FILE *out) {
  fprintf(out,
          "usage: cuda_pipeline [--rounds N]\n"
          "  --rounds N  of %d iterations of each way [10]\n",
          kIterations);
  return out == stdout ? 0 : 2;
}

}  // namespace

int main(int argc, char **argv) {
  static const option options[] = {{"rounds", required_argument, nullptr, 'n'},
                                   {"help", no_argument, nullptr, 'h'},
                                   {nullptr, 0, nullptr, 0}};
  int num_rounds = 10, letter;
  while ((letter = getopt_long(argc, argv, "n:h", options, nullptr)) != -1) {
    if (letter == 'h') return Usage(stdout);
    if (letter == 'n') num_rounds = atoi(optarg);
    if (letter == '?') return Usage(stderr);
  }
  if (optind != argc || num_rounds < 1) return Usage(stderr);
  int num_devices = 0;
  cudaError_t error = cudaGetDeviceCount(&num_devices);
  if (error != cudaSuccess || num_devices == 0) {
    fprintf(stderr, "cuda_pipeline: no CUDA device: %s\n",
            cudaGetErrorString(error));
    return 1;
  }
  return Compare(num_rounds);
}
