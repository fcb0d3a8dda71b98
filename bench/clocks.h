// SPDX-License-Identifier: Apache-2.0
//
// One pipeline timed in four ways, to see what each way gets wrong:
//
//   detector (device) -> shrink the frame (CPU) -> classifier (device) -> wait
//
// The host submits the detector, shrinks the frame while the device works,
// submits the classifier and waits once. The ways are: host clocks around the
// submitting, a wait after each model, the device's own events, and pprof;
// beside them the pipeline runs without any timing. RunWithPprof is what you
// would write in your program. clocks_cuda.cu and clocks_opencl.cc have the
// models, one for each kind of device.
#ifndef EXAMPLES_CLOCKS_H_
#define EXAMPLES_CLOCKS_H_

#include <getopt.h>
#include <pprof/device.h>
#include <pprof/pprof.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "clocks_table.h"

// A pipeline of one kind of device. All but Shrink, Wait and ElapsedMs return
// before the device has begun.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
  virtual void SubmitDetector() = 0;
  virtual void ShrinkFrame() = 0;
  virtual void SubmitClassifier() = 0;
  virtual void Wait() = 0;  // the one of an iteration
  // The device's own events: before and after each model.
  virtual void Record(int event) = 0;
  virtual double ElapsedMs(int from, int to) = 0;  // after Wait
  virtual std::vector<float> result() const = 0;
  virtual pprof_device *device() const = 0;
  virtual void *stream() const = 0;
};

enum Event { kDetectorStart, kDetectorEnd, kClassifierStart, kClassifierEnd };
constexpr int kNumEvents = 4;

// The CPU's part is to be done while the detector still runs.
class Frame {
 public:
  Frame() : pixels_(static_cast<size_t>(kWidth) * kHeight) {
    for (size_t i = 0; i < pixels_.size(); i++)
      pixels_[i] = static_cast<uint8_t>(i * 7 + i / kWidth * 13);
  }
  // Averages the pixels under each value of the classifier's input.
  void Shrink(float *out, int size) const {
    for (int y = 0; y < size; y++) {
      const int top = y * kHeight / size;
      const int bottom = (y + 1) * kHeight / size;
      for (int x = 0; x < size; x++) {
        const int left = x * kWidth / size;
        const int right = (x + 1) * kWidth / size;
        unsigned sum = 0;
        for (int v = top; v < bottom; v++)
          for (int u = left; u < right; u++) sum += pixels_[v * kWidth + u];
        out[y * size + x] =
            static_cast<float>(sum) /
            static_cast<float>((bottom - top) * (right - left) * 255);
      }
    }
  }

 private:
  static constexpr int kWidth = 1920, kHeight = 1080;
  std::vector<uint8_t> pixels_;
};

namespace {

constexpr int kIterations = 20;  // of each way in a round
constexpr char kLog[] = "clocks.pplog";

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

// Reads host clocks around the host's calls.
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

// Events in the stream before and after each model, read once all is done.
void RunWithEvents(Pipeline *pipeline, Samples *samples) {
  pipeline->Record(kDetectorStart);
  pipeline->SubmitDetector();
  pipeline->Record(kDetectorEnd);
  pipeline->ShrinkFrame();
  pipeline->Record(kClassifierStart);
  pipeline->SubmitClassifier();
  pipeline->Record(kClassifierEnd);
  pipeline->Wait();
  samples->stages[kDetector].push_back(
      pipeline->ElapsedMs(kDetectorStart, kDetectorEnd));
  samples->stages[kClassifier].push_back(
      pipeline->ElapsedMs(kClassifierStart, kClassifierEnd));
}

// The bare pipeline with pprof's marks. The samples come later, to
// CollectEvents.
void RunWithPprof(Pipeline *pipeline, Samples *) {
  {
    PPROF_DEVICE_SCOPE(pipeline->device(), pipeline->stream(), "detector");
    pipeline->SubmitDetector();
  }
  {
    PPROF_SCOPE_CAT("shrink", PPROF_CATEGORY_CPU_TASK);
    pipeline->ShrinkFrame();
  }
  {
    PPROF_DEVICE_SCOPE(pipeline->device(), pipeline->stream(), "classifier");
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
  fprintf(stderr, "pipeline: %s: %s\n", pprof_status_string(status),
          error.text);
  exit(1);
}

pprof_session *StartSession(Collector *collector, const Pipeline *pipeline) {
  pprof_error error = {};
  pprof_session *session = nullptr;
  pprof_sink *log = nullptr;
  collector->sink.size = sizeof collector->sink;
  collector->sink.define = CollectDefinition;
  collector->sink.events = CollectEvents;
  // Named before the start, the stream has its events ready for the first
  // range.
  pprof_stream_name(pipeline->device(), pipeline->stream(), "models");
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

// One session a round, so that nothing records during the other ways. Each
// session overwrites the log; the last log stays.
void MeasureWithPprof(Pipeline *pipeline, Samples *samples) {
  Collector collector = {};
  collector.samples = samples;
  pprof_session *session = StartSession(&collector, pipeline);
  Measure(pipeline, RunWithPprof, samples);
  pprof_error error = {};
  CheckPprof(pprof_session_stop(session, &error), error);
  pprof_session_destroy(session);
}

int Compare(Pipeline *pipeline, const char *device, int num_rounds) {
  Samples warm_up;
  Measure(pipeline, RunBare, &warm_up);
  const std::vector<float> expected = pipeline->result();
  // The ways take turns, so that slow changes affect all of them.
  Results results;
  for (int i = 0; i < num_rounds; i++) {
    Measure(pipeline, RunBare, &results.bare);
    Measure(pipeline, RunWithHostClocks, &results.host_clocks);
    Measure(pipeline, RunWithSynchronize, &results.synchronize);
    Measure(pipeline, RunWithEvents, &results.events);
    MeasureWithPprof(pipeline, &results.pprof);
    Measure(pipeline, RunBare, &results.again);
  }
  printf("%s: medians in ms of %d rounds of %d iterations\n\n", device,
         num_rounds, kIterations);
  PrintTable(results);
  if (pipeline->result() != expected) {
    fprintf(stderr, "pipeline: the results differ\n");
    return 1;
  }
  const std::vector<double> *timed = results.pprof.stages;
  if (timed[kDetector].empty() || timed[kClassifier].empty()) {
    fprintf(stderr, "pipeline: no device times; `pprof-report %s` says why\n",
            kLog);
    return 1;
  }
  Explain(results, kLog);
  return 0;
}

int Usage(FILE *out, const char *program) {
  fprintf(out,
          "usage: %s [--rounds N]\n"
          "  --rounds N  of %d iterations of each way [10]\n",
          program, kIterations);
  return out == stdout ? 0 : 2;
}

// The number of rounds; any other text ends the program.
int ParseRounds(int argc, char **argv) {
  static const option options[] = {{"rounds", required_argument, nullptr, 'n'},
                                   {"help", no_argument, nullptr, 'h'},
                                   {nullptr, 0, nullptr, 0}};
  int num_rounds = 10, letter;
  while ((letter = getopt_long(argc, argv, "n:h", options, nullptr)) != -1) {
    if (letter == 'h') exit(Usage(stdout, argv[0]));
    if (letter == 'n') num_rounds = atoi(optarg);
    if (letter == '?') exit(Usage(stderr, argv[0]));
  }
  if (optind != argc || num_rounds < 1) exit(Usage(stderr, argv[0]));
  return num_rounds;
}

}  // namespace

#endif  // EXAMPLES_CLOCKS_H_
