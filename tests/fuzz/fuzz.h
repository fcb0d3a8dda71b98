// SPDX-License-Identifier: Apache-2.0
//
// What the fuzz targets share. Each defines `fuzz::kCorpus`, the folder of its
// inputs below tests/fuzz/corpus, and LLVMFuzzerTestOneInput. With libFuzzer
// (`./dev fuzz`) that is a fuzzer; with replay.cc it is a plain test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/jobs.h"
#include "event/tee.h"
#include "pprof/report.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace fuzz {

extern const char kCorpus[];

// Ends the process unless `good`: a fuzzer takes that for a finding.
void Require(bool good, const char *what);

// Threads that all readers of the process share.
ppi_jobs *Jobs();

// A file of the process's own that holds what was written last.
class File {
 public:
  File();
  void Write(const void *data, size_t size);
  std::string Read() const;
  const char *path() const {
    return path_.c_str();
  }
  int fd() const {
    return fd_;
  }

 private:
  int fd_;
  std::string path_;
};

// A report and a Chrome trace of what it is told, and a report that takes no
// shorter way: both reports must be the same. Each must be free of anything
// that could act on a terminal or in a page.
class Outputs {
 public:
  // `choice` picks details, views, format and style of the report.
  explicit Outputs(unsigned choice);
  ~Outputs();
  Outputs(const Outputs &) = delete;
  Outputs &operator=(const Outputs &) = delete;
  pprof_sink *sink() {
    return &tee_.base;
  }
  // The status of a reader, and what it said of it: a failure that is not the
  // sinks' own has a message that may be shown, success has none.
  void CheckMessage(pprof_status status, const pprof_error &error) const;
  // All that the report says.
  std::string Json() const;
  // Writes the report and looks at both.
  void Check();

 private:
  unsigned choice_;
  ppi_tee tee_;
  pprof_report *report_ = nullptr, *one_way_ = nullptr;
};

// Whether `text` holds no control character but line ends, no bidi mark, and
// UTF-8 only.
bool IsVisible(const std::string &text);

}  // namespace fuzz
