// SPDX-License-Identifier: Apache-2.0
//
// A session as a program has it, public headers only, with a sink that keeps
// all device ranges; and what the GPU tests share beside it. The sink runs on
// the collector's thread: read what it kept after Stop.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels.h"
#include "pprof/cuda.h"
#include "pprof/pprof.h"

#define ASSERT_CUDA(call) ASSERT_EQ(cudaSuccess, (call))
#define EXPECT_CUDA(call) EXPECT_EQ(cudaSuccess, (call))

namespace pprof_gpu {

constexpr uint64_t kUs = 1000, kMs = 1000000;

struct Range {
  pprof_event event;  // its pointers are not to be followed
  std::string name;
  uint64_t stream;  // the backend's number of it
  uint64_t device;  // index; UINT64_MAX: none

  uint64_t DeviceNs() const {
    return event.device_end_ns - event.device_start_ns;
  }
  bool IsTimed() const {
    return event.device_end_ns != 0;
  }
};

// Keeps a run's device ranges, of a session or of a log.
class Recording {
 public:
  Recording() {
    sink_.base.size = sizeof sink_.base;
    sink_.base.define = Define;
    sink_.base.events = Events;
    sink_.base.finish = Finish;
    sink_.owner = this;
  }
  Recording(const Recording &) = delete;

  pprof_sink *sink() {
    return &sink_.base;
  }

  // In the order of their submits.
  std::vector<Range> Ranges(const std::string &name = "") const {
    std::vector<Range> found;
    for (const Range &range : ranges_)
      if (name.empty() || range.name == name) found.push_back(range);
    std::stable_sort(found.begin(), found.end(),
                     [](const Range &a, const Range &b) {
                       return a.event.start_ns < b.event.start_ns;
                     });
    return found;
  }

  uint64_t num_host_ranges = 0;
  uint64_t recorded = 0, lost = 0, late = 0;  // of the totals

 private:
  struct Sink {
    pprof_sink base = {};
    Recording *owner = nullptr;
  };

  static Recording *Owner(pprof_sink *sink) {
    return reinterpret_cast<Sink *>(sink)->owner;
  }

  static pprof_status Define(pprof_sink *sink, const pprof_definition *it) {
    Recording *self = Owner(sink);
    uint32_t id = pprof_definition_id(it);
    switch (pprof_definition_get_kind(it)) {
      case PPROF_DEFINITION_SITE:
        self->sites_[id] = pprof_definition_name(it);
        break;
      case PPROF_DEFINITION_STREAM:
        self->streams_[id] = pprof_definition_number(it);
        self->stream_devices_[id] = pprof_definition_parent(it);
        break;
      case PPROF_DEFINITION_DEVICE:
        self->devices_[id] = pprof_definition_number(it);
        break;
      default:
        break;
    }
    return PPROF_STATUS_OK;
  }

  void Keep(const pprof_event &event) {
    if (event.kind == PPROF_KIND_RANGE) num_host_ranges++;
    if (event.kind != PPROF_KIND_DEVICE_RANGE) return;
    Range range = {event, sites_[event.site], 0, UINT64_MAX};
    if (event.stream) {
      range.stream = streams_[event.stream];
      range.device = devices_[stream_devices_[event.stream]];
    }
    range.event.flows = nullptr;
    range.event.work = nullptr;
    ranges_.push_back(range);
  }

  static pprof_status Events(pprof_sink *sink, const pprof_batch *batch) {
    for (size_t i = 0; i < batch->num_events; i++)
      Owner(sink)->Keep(*pprof_batch_at(batch, i));
    return PPROF_STATUS_OK;
  }

  static pprof_status Finish(pprof_sink *sink, const pprof_totals *totals) {
    Recording *self = Owner(sink);
    self->recorded = pprof_totals_value(totals, PPROF_ALL_LANES, "recorded");
    self->lost = pprof_totals_value(totals, PPROF_ALL_LANES, "lost");
    self->late = pprof_totals_value(totals, PPROF_ALL_LANES, "late");
    return PPROF_STATUS_OK;
  }

  Sink sink_;
  std::vector<Range> ranges_;
  std::map<uint32_t, std::string> sites_;
  std::map<uint32_t, uint64_t> streams_, devices_;
  std::map<uint32_t, uint32_t> stream_devices_;
};

class Session {
 public:
  explicit Session(uint64_t memory_limit_bytes = 0) {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = memory_limit_bytes;
    options.drain_interval_us = 200;
    options.stop_wait_ms = 5000;
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_report_create(&report_));
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_session_create(&options, &session_, &error))
        << error.text;
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_session_add_sink(session_, recording_.sink()));
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_session_add_sink(session_, pprof_report_sink(report_)));
  }
  ~Session() {
    pprof_session_destroy(session_);
    pprof_report_destroy(report_);
  }
  Session(const Session &) = delete;

  void Start() {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session_));
    Flush();
  }

  // Whole rounds of the collector: it has looked at all that was submitted,
  // and slots that a sink has taken are free again.
  void Flush() {
    for (int i = 0; i < 2; i++)
      ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(session_));
  }

  void Stop() {
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_session_stop(session_, &error))
        << error.text;
    stats.size = sizeof stats;
    EXPECT_EQ(PPROF_STATUS_OK, pprof_session_stats(session_, &stats));
  }

  std::vector<Range> Ranges(const std::string &name = "") const {
    return recording_.Ranges(name);
  }

  uint64_t num_host_ranges() const {
    return recording_.num_host_ranges;
  }

  // What stands under the report.
  std::string Report() const {
    char *text = nullptr;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    EXPECT_EQ(PPROF_STATUS_OK, pprof_report_write_table(report_, nullptr, out));
    fclose(out);
    std::string report(text, size);
    free(text);
    return report;
  }

  pprof_stats stats = {};

 private:
  Recording recording_;
  pprof_report *report_ = nullptr;
  pprof_session *session_ = nullptr;
};

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    EXPECT_CUDA(cudaStreamCreateWithFlags(&stream_, flags));
  }
  ~Stream() {
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream &) = delete;
  operator cudaStream_t() const {
    return stream_;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() {
    EXPECT_CUDA(cudaEventCreate(&event_));
  }
  ~Event() {
    cudaEventDestroy(event_);
  }
  Event(const Event &) = delete;
  operator cudaEvent_t() const {
    return event_;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

inline uint64_t ElapsedNs(cudaEvent_t from, cudaEvent_t to) {
  float ms = 0;
  EXPECT_CUDA(cudaEventElapsedTime(&ms, from, to));
  return static_cast<uint64_t>(static_cast<double>(ms) * 1e6 + 0.5);
}

// Leaves no last error behind.
inline bool IsBusy(cudaStream_t stream) {
  cudaError_t answer = cudaStreamQuery(stream);
  if (answer == cudaErrorNotReady) cudaGetLastError();
  return answer == cudaErrorNotReady;
}

// Host memory that a kernel waits for.
class Gate {
 public:
  Gate() {
    void *memory = nullptr;
    EXPECT_CUDA(cudaHostAlloc(&memory, sizeof(uint32_t), cudaHostAllocDefault));
    go_ = static_cast<volatile uint32_t *>(memory);
    *go_ = 0;
  }
  ~Gate() {
    Open();
    cudaDeviceSynchronize();
    cudaFreeHost(const_cast<uint32_t *>(go_));
  }
  Gate(const Gate &) = delete;

  void Open() {
    *go_ = 1;
  }
  // Work put into `stream` from here on waits for Open.
  void Close(cudaStream_t stream) {
    ASSERT_CUDA(Hold(stream, go_));
  }

 private:
  volatile uint32_t *go_;
};

// Device 0 is current and has its events ready at a session's start.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_CUDA(cudaSetDevice(0));
    ASSERT_CUDA(cudaFree(nullptr));
    pprof_error why = {};
    ASSERT_TRUE(pprof_device_available(pprof_cuda_device(), &why)) << why.text;
    pprof_cuda_stream_name(cudaStreamLegacy, "default");
  }
  void TearDown() override {
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaGetLastError());
  }
};

inline uint64_t Median(std::vector<uint64_t> values) {
  EXPECT_FALSE(values.empty());
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

}  // namespace pprof_gpu
