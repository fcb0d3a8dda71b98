// SPDX-License-Identifier: Apache-2.0
//
// Imports a trace into a sink that keeps everything and checks what sinks are
// promised: definitions before use, numbers without gaps, checkpoints kept.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "import/import.h"
}
#include "event/event.h"

namespace pprof_test {

struct ImportedEvent {
  pprof_event event;
  pprof_work_amount work;  // size 0: none
  pprof_cpu_use cpu;       // likewise
  std::vector<uint64_t> flows;
  uint32_t batch_lane;
  std::string name, category, lane, stream, device, attributes;
  uint64_t thread;
};

struct ImportedRun {
  std::map<std::string, std::string> info;
  std::vector<ImportedEvent> events;
  std::vector<uint64_t> checkpoints;
  std::vector<uint64_t> windows;  // opened, closed
  std::map<std::string, uint64_t> totals;
  std::map<std::string, std::string> folds;  // by name
  std::vector<std::string> notes;

  std::vector<const ImportedEvent *> Named(const std::string &name) const {
    std::vector<const ImportedEvent *> found;
    for (const ImportedEvent &event : events)
      if (event.name == name) found.push_back(&event);
    return found;
  }
  const ImportedEvent &The(const std::string &name) const {
    static const ImportedEvent none = {};
    auto found = Named(name);
    EXPECT_EQ(found.size(), 1u) << name;
    return found.empty() ? none : *found[0];
  }
  uint64_t Total(const std::string &key) const {
    auto found = totals.find(key);
    return found == totals.end() ? 0 : found->second;
  }
  bool HasNote(const std::string &part) const {
    for (const std::string &note : notes)
      if (note.find(part) != std::string::npos) return true;
    return false;
  }
};

class Imported {
 public:
  explicit Imported(bool keeps_events = true) : keeps_events_(keeps_events) {
    sink_.base = {};
    sink_.base.size = sizeof(pprof_sink);
    sink_.base.begin = Begin;
    sink_.base.define = Define;
    sink_.base.events = Events;
    sink_.base.checkpoint = Checkpoint;
    sink_.base.window = Window;
    sink_.base.finish = Finish;
    sink_.self = this;
  }

  // Imports the bytes of a trace, from a file whose name ends so.
  Imported &Read(const std::string &bytes, const std::string &ending = "") {
    std::string name = "/tmp/pprof-import-test.XXXXXX" + ending;
    char *path = &name[0];
    int fd = mkstemps(path, static_cast<int>(ending.size()));
    EXPECT_GE(fd, 0);
    size_t put = 0;
    while (put < bytes.size()) {
      ssize_t n = write(fd, bytes.data() + put, bytes.size() - put);
      if (n <= 0) break;
      put += static_cast<size_t>(n);
    }
    EXPECT_EQ(put, bytes.size());
    close(fd);
    ReadFile(path);
    unlink(path);
    return *this;
  }
  Imported &ReadFile(const std::string &path) {
    pprof_error error = {};
    status = ppi_import_read(path.c_str(), &sink_.base, options, &error);
    message = error.text;
    EXPECT_FALSE(is_open_) << "a run without finish";
    return *this;
  }
  Imported &ReadEvents(const std::string &events,
                       const std::string &ending = "") {
    return Read("{\"traceEvents\":[" + events + "]}", ending);
  }

  const ImportedRun &run() const {
    static const ImportedRun none;
    EXPECT_EQ(runs.size(), 1u) << message;
    return runs.empty() ? none : runs[0];
  }

  const ppi_import_options *options = nullptr;
  std::vector<ImportedRun> runs;
  pprof_status status = PPROF_STATUS_OK;
  std::string message;

 private:
  struct Definition {
    std::string name;
    uint32_t parent;
    uint64_t number;
  };
  struct Sink {
    pprof_sink base;
    Imported *self;
  };

  static Imported *Of(pprof_sink *sink) {
    return reinterpret_cast<Sink *>(sink)->self;
  }

  static pprof_status Begin(pprof_sink *sink, const pprof_run_info *info) {
    Imported *self = Of(sink);
    EXPECT_FALSE(self->is_open_);
    self->is_open_ = true;
    self->definitions_.clear();
    self->next_seq_.clear();
    self->listed_.clear();
    self->checkpoint_ns_ = 0;
    self->runs.emplace_back();
    for (size_t i = 0; i < info->num_texts; i++)
      self->runs.back().info[info->texts[i].key] = info->texts[i].value;
    return PPROF_STATUS_OK;
  }

  static pprof_status Define(pprof_sink *sink,
                             const pprof_definition *definition) {
    Imported *self = Of(sink);
    EXPECT_TRUE(self->is_open_);
    self->definitions_[{definition->kind, definition->id}] = {
        definition->name, definition->parent, definition->number};
    return PPROF_STATUS_OK;
  }

  const Definition &Get(pprof_definition_kind kind, uint32_t id) {
    static const Definition none = {};
    auto found = definitions_.find({kind, id});
    EXPECT_NE(found, definitions_.end()) << kind << " " << id;
    return found == definitions_.end() ? none : found->second;
  }

  static std::pair<uint64_t, uint32_t> KeyOf(const pprof_event &event) {
    return {event.start_ns, event.site};
  }

  void Take(const pprof_event &event, uint32_t batch_lane) {
    // What began before a checkpoint was told by then, or was listed in it.
    bool is_device = event.kind == PPROF_KIND_DEVICE_RANGE;
    if (is_device) {
      EXPECT_GE(event.device_start_ns, checkpoint_ns_);
    }
    if (event.start_ns < checkpoint_ns_) {
      auto found = listed_.find(KeyOf(event));
      EXPECT_NE(found, listed_.end()) << "came after the checkpoint";
      if (found != listed_.end()) listed_.erase(found);
    }
    if (!keeps_events_) return;
    const Definition &site = Get(PPROF_DEFINITION_SITE, event.site);
    const Definition &lane = Get(PPROF_DEFINITION_LANE, event.lane);
    ImportedEvent kept = {};
    kept.event = event;
    kept.batch_lane = batch_lane;
    kept.name = site.name;
    if (site.number)
      runs.back().folds[site.name] =
          Get(PPROF_DEFINITION_SITE, static_cast<uint32_t>(site.number)).name;
    kept.category = Get(PPROF_DEFINITION_CATEGORY, site.parent).name;
    kept.lane = lane.name;
    kept.thread = lane.number;
    if (event.stream) {
      const Definition &stream = Get(PPROF_DEFINITION_STREAM, event.stream);
      kept.stream = stream.name;
      kept.device = Get(PPROF_DEFINITION_DEVICE, stream.parent).name;
    }
    if (event.attributes)
      kept.attributes = Get(PPROF_DEFINITION_ATTRIBUTES, event.attributes).name;
    if (event.work) kept.work = *event.work;
    if (event.cpu) kept.cpu = *event.cpu;
    kept.flows.assign(event.flows, event.flows + event.num_flows);
    runs.back().events.push_back(kept);
  }

  static pprof_status Events(pprof_sink *sink, const pprof_batch *batch) {
    Imported *self = Of(sink);
    EXPECT_TRUE(self->is_open_);
    EXPECT_EQ(batch->first_seq, self->next_seq_[batch->lane]);
    EXPECT_EQ(batch->end_seq, batch->first_seq + batch->num_events);
    self->next_seq_[batch->lane] = batch->end_seq;
    self->Get(PPROF_DEFINITION_LANE, batch->lane);
    for (size_t i = 0; i < batch->num_events; i++)
      self->Take(*pprof_batch_at(batch, i), batch->lane);
    return PPROF_STATUS_OK;
  }

  static pprof_status Checkpoint(pprof_sink *sink,
                                 const pprof_checkpoint *checkpoint) {
    Imported *self = Of(sink);
    EXPECT_GE(checkpoint->time_ns, self->checkpoint_ns_);
    self->checkpoint_ns_ = checkpoint->time_ns;
    self->listed_.clear();
    for (size_t i = 0; i < checkpoint->num_open; i++)
      self->listed_.insert(KeyOf(checkpoint->open[i]));
    self->runs.back().checkpoints.push_back(checkpoint->time_ns);
    return PPROF_STATUS_OK;
  }

  static pprof_status Window(pprof_sink *sink, uint32_t, bool opens,
                             uint64_t time_ns) {
    Imported *self = Of(sink);
    EXPECT_EQ(opens, self->runs.back().windows.empty());
    self->runs.back().windows.push_back(time_ns);
    return PPROF_STATUS_OK;
  }

  static pprof_status Finish(pprof_sink *sink, const pprof_totals *totals) {
    Imported *self = Of(sink);
    EXPECT_TRUE(self->is_open_);
    self->is_open_ = false;
    ImportedRun &run = self->runs.back();
    uint64_t recorded = 0;
    for (const auto &lane : self->next_seq_) recorded += lane.second;
    for (int key = 0; key < PPI_NUM_TOTALS; key++)
      run.totals[ppi_total_name(static_cast<ppi_total_key>(key))] =
          ppi_totals_get(totals, PPROF_ALL_LANES,
                         static_cast<ppi_total_key>(key));
    EXPECT_EQ(run.Total("recorded"), recorded);
    for (size_t i = 0; i < totals->num_notes; i++)
      run.notes.push_back(std::string(totals->notes[i].key) + ": " +
                          totals->notes[i].value);
    return PPROF_STATUS_OK;
  }

  Sink sink_;
  bool keeps_events_, is_open_ = false;
  std::map<std::pair<int, uint32_t>, Definition> definitions_;
  std::map<uint32_t, uint64_t> next_seq_;
  std::multiset<std::pair<uint64_t, uint32_t>> listed_;
  uint64_t checkpoint_ns_ = 0;
};

inline std::string Gzip(const std::string &bytes, int level = 6) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace pprof_test
