// SPDX-License-Identifier: Apache-2.0
//
// Builds a run by hand and delivers it to a sink: definitions, events by lane,
// checkpoints, windows and totals. For tests; one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/mem.h"
#include "event/event.h"
#include "event/tally.h"

namespace pprof_test {

constexpr uint64_t kUs = 1000;
constexpr uint64_t kMs = 1000000;

inline const char *CategoryName(uint32_t category) {
  static const char *const names[] = {
      "UserDefined",   "ProfileStep",  "Dataloader",    "Forward",
      "Backward",      "Optimization", "Communication", "Operator",
      "OperatorInner", "CudaRuntime",  "PythonOp",      "PythonUserDefined",
      "Preprocess",    "Inference",    "Postprocess",   "CpuTask",
      "Memory",        "Kernel",       "Memcpy",        "Memset",
      "Idle"};
  return category < 20 ? names[category] : "Registered";
}

struct Window {
  uint64_t open_ns, close_ns;
};

// A run as a test describes it; Deliver gives it to a sink in a given way.
class EventFeed {
 public:
  EventFeed() {
    Lane(0, 0, "process");
  }

  void Lane(uint32_t id, uint64_t thread, const std::string &name) {
    Define(PPROF_DEFINITION_LANE, id, 0, thread, name);
  }
  void Device(uint32_t id, const std::string &name) {
    Define(PPROF_DEFINITION_DEVICE, id, 0, id - 1, name);
  }
  void Stream(uint32_t id, uint32_t device) {
    Define(PPROF_DEFINITION_STREAM, id, device, id, "");
  }
  void Attributes(uint32_t id, const std::string &json) {
    Define(PPROF_DEFINITION_ATTRIBUTES, id, 0, 0, json);
  }
  void Category(uint32_t id, const std::string &name) {
    categories_[id] = true;
    Define(PPROF_DEFINITION_CATEGORY, id, 0, 0, name);
  }

  uint32_t Site(const std::string &name, uint32_t category) {
    if (!categories_[category]) Category(category, CategoryName(category));
    auto key = std::make_pair(category, name);
    auto found = sites_.find(key);
    if (found != sites_.end()) return found->second;
    uint32_t id = static_cast<uint32_t>(sites_.size()) + 1;
    sites_[key] = id;
    Define(PPROF_DEFINITION_SITE, id, category, 0, name);
    return id;
  }

  // A name folds into another.
  void Fold(const std::string &name, const std::string &into,
            uint32_t category) {
    uint32_t id = Site(name, category);
    Define(PPROF_DEFINITION_SITE, id, category, Site(into, category), name);
  }

  // A host range on `lane`; the lane must have been defined.
  pprof_event &Range(uint32_t lane, const std::string &name, uint32_t category,
                     uint64_t start_ns, uint64_t end_ns) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.site = Site(name, category);
    event.lane = lane;
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    return Add(lane, event);
  }
  pprof_event &Step(uint64_t start_ns, uint64_t end_ns) {
    pprof_event &event =
        Range(0, "ProfileStep", PPROF_CATEGORY_PROFILE_STEP, start_ns, end_ns);
    event.flags = PPROF_FLAG_ASYNC;
    return event;
  }
  // A device range submitted on `lane` at `submit_ns`; it lies in the table's
  // lane 1000 + stream.
  pprof_event &OnDevice(uint32_t lane, uint32_t stream, const std::string &name,
                        uint32_t category, uint64_t submit_ns,
                        uint64_t device_start_ns, uint64_t device_end_ns) {
    pprof_event event = {};
    event.kind = PPROF_KIND_DEVICE_RANGE;
    event.site = Site(name, category);
    event.lane = lane;
    event.stream = stream;
    event.start_ns = submit_ns;
    event.end_ns = submit_ns;
    event.device_start_ns = device_start_ns;
    event.device_end_ns = device_end_ns;
    return Add(1000 + stream, event);
  }
  pprof_event &Add(uint32_t batch_lane, const pprof_event &event) {
    lanes_[batch_lane].push_back(event);
    return lanes_[batch_lane].back();
  }

  // A range that never ends: checkpoints list it, and nothing else does.
  void NeverEnds(const pprof_event &event) {
    unended_.push_back(event);
  }
  // A window that closes at UINT64_MAX never does.
  void AddWindow(uint64_t open_ns, uint64_t close_ns) {
    windows_.push_back({open_ns, close_ns});
  }
  // Checkpoints list host ranges that were delivered, too, as no writer should.
  void ListDelivered() {
    lists_delivered_ = true;
  }
  void Total(ppi_total_key key, uint64_t value) {
    totals_[key] = value;
  }
  void Note(const std::string &key, const std::string &text) {
    notes_.push_back({key, text});
  }
  void Run(const std::string &uuid, const std::string &pid) {
    uuid_ = uuid;
    pid_ = pid;
  }
  void SetRank(const std::string &rank) {
    rank_ = rank;
  }
  void SetHost(const std::string &host) {
    host_ = host;
  }
  void SetBegan(uint64_t realtime_ns) {
    began_ = std::to_string(realtime_ns);
  }

  // Of the last delivery; 0: there was none.
  uint64_t last_checkpoint_ns() const {
    return last_checkpoint_ns_;
  }
  std::map<uint32_t, std::deque<pprof_event>> &lanes() {
    return lanes_;
  }
  const std::vector<Window> &windows() const {
    return windows_;
  }

  // Each lane in one batch, no checkpoint.
  pprof_status Deliver(pprof_sink *sink) {
    return DeliverAs(sink, nullptr, 0);
  }

  // These checkpoints, and then no lane.
  pprof_status DeliverCheckpoints(pprof_sink *sink,
                                  const std::vector<pprof_checkpoint> &all) {
    pprof_status status = Begin(sink);
    for (const pprof_checkpoint &one : all)
      if (status == PPROF_STATUS_OK) status = sink->checkpoint(sink, &one);
    return status == PPROF_STATUS_OK ? Finish(sink) : status;
  }

  // Lanes interleaved in random pieces; `num_checkpoints` checkpoints at random
  // times, each with a checkpoint's promises kept.
  pprof_status DeliverAs(pprof_sink *sink, std::mt19937_64 *random,
                         size_t num_checkpoints) {
    pprof_status status = Begin(sink);
    size_t num_edges = 0;
    std::map<uint32_t, size_t> next;
    last_checkpoint_ns_ = 0;
    for (uint64_t time_ns : CheckpointTimes(random, num_checkpoints)) {
      if (status == PPROF_STATUS_OK)
        status = WindowsUntil(sink, time_ns, &num_edges);
      if (status == PPROF_STATUS_OK)
        status = DeliverUntil(sink, random, time_ns, &next);
      if (status == PPROF_STATUS_OK) status = Checkpoint(sink, time_ns, next);
    }
    if (status == PPROF_STATUS_OK)
      status = WindowsUntil(sink, UINT64_MAX, &num_edges);
    if (status == PPROF_STATUS_OK)
      status = DeliverUntil(sink, random, UINT64_MAX, &next);
    return status == PPROF_STATUS_OK ? Finish(sink) : status;
  }

 private:
  struct Definition {
    pprof_definition_kind kind;
    uint32_t id, parent;
    uint64_t number;
    std::string name;
  };

  void Define(pprof_definition_kind kind, uint32_t id, uint32_t parent,
              uint64_t number, const std::string &name) {
    definitions_.push_back({kind, id, parent, number, name});
  }

  // When an event reaches the collector: at its end, or when its device side
  // is known.
  static uint64_t KnownAt(const pprof_event &event) {
    return std::max({event.start_ns, event.end_ns, event.device_start_ns,
                     event.device_end_ns});
  }

  std::vector<uint64_t> CheckpointTimes(std::mt19937_64 *random, size_t num) {
    uint64_t last_ns = 1;
    for (const auto &lane : lanes_)
      for (const pprof_event &event : lane.second)
        last_ns = std::max(last_ns, std::min(KnownAt(event), kGarbage));
    std::vector<uint64_t> times;
    for (size_t i = 0; i < num; i++) times.push_back((*random)() % last_ns);
    std::sort(times.begin(), times.end());
    return times;
  }

  // Edges reach the sink by the time a checkpoint passes them, in their order.
  pprof_status WindowsUntil(pprof_sink *sink, uint64_t time_ns,
                            size_t *num_edges) {
    pprof_status status = PPROF_STATUS_OK;
    for (; *num_edges < 2 * windows_.size() && status == PPROF_STATUS_OK;
         ++*num_edges) {
      const Window &window = windows_[*num_edges / 2];
      bool opens = *num_edges % 2 == 0;
      uint64_t at_ns = opens ? window.open_ns : window.close_ns;
      if (at_ns > time_ns || at_ns == UINT64_MAX) break;
      status = sink->window(sink, static_cast<uint32_t>(*num_edges / 2), opens,
                            at_ns);
    }
    return status;
  }

  // A lane delivers in order, so one event that is not known yet holds back
  // those behind it; some that are known stay behind at random, but never one
  // a checkpoint would not list.
  pprof_status DeliverUntil(pprof_sink *sink, std::mt19937_64 *random,
                            uint64_t time_ns,
                            std::map<uint32_t, size_t> *next) {
    std::vector<uint32_t> ready;
    for (const auto &lane : lanes_) ready.push_back(lane.first);
    while (!ready.empty()) {
      size_t pick = random ? (*random)() % ready.size() : 0;
      uint32_t id = ready[pick];
      std::deque<pprof_event> &lane = lanes_[id];
      size_t at = (*next)[id], end = at;
      size_t most = random ? 1 + (*random)() % 5 : lane.size();
      while (end < lane.size() && end - at < most &&
             (time_ns == UINT64_MAX || KnownAt(lane[end]) <= time_ns))
        end++;
      if (end == at) {
        ready.erase(ready.begin() + static_cast<long>(pick));
        continue;
      }
      pprof_status status = Batch(sink, id, at, end);
      if (status != PPROF_STATUS_OK) return status;
      (*next)[id] = end;
    }
    return PPROF_STATUS_OK;
  }

  pprof_status Batch(pprof_sink *sink, uint32_t id, size_t from, size_t to) {
    std::vector<pprof_event> events(
        lanes_[id].begin() + static_cast<long>(from),
        lanes_[id].begin() + static_cast<long>(to));
    pprof_batch batch = {};
    batch.size = sizeof batch;
    batch.stride = sizeof(pprof_event);
    batch.events = events.data();
    batch.num_events = events.size();
    batch.first_seq = from;
    batch.end_seq = to;
    batch.lane = id;
    return sink->events(sink, &batch);
  }

  pprof_status Checkpoint(pprof_sink *sink, uint64_t time_ns,
                          const std::map<uint32_t, size_t> &next) {
    std::vector<pprof_event> open;
    for (const auto &lane : lanes_) {
      auto at = next.find(lane.first);
      for (size_t i = at == next.end() ? 0 : at->second; i < lane.second.size();
           i++) {
        pprof_event event = lane.second[i];
        if (event.start_ns >= time_ns) continue;
        event.end_ns = std::min(event.end_ns, time_ns);
        open.push_back(event);
      }
    }
    for (pprof_event event : unended_) {
      event.end_ns = time_ns;
      if (event.start_ns < time_ns) open.push_back(event);
    }
    last_checkpoint_ns_ = time_ns;
    if (lists_delivered_) ListDelivered(time_ns, next, &open);
    pprof_checkpoint checkpoint = {time_ns, open.data(), open.size()};
    pprof_status status = sink->checkpoint(sink, &checkpoint);
    // A partial checkpoint repeats the time and may list less.
    pprof_checkpoint partial = {time_ns, open.data(), open.size() / 2};
    return status == PPROF_STATUS_OK ? sink->checkpoint(sink, &partial)
                                     : status;
  }

  // Leaves out ranges that do not show: empty ones, and those that ended just
  // now.
  void ListDelivered(uint64_t time_ns, const std::map<uint32_t, size_t> &next,
                     std::vector<pprof_event> *open) {
    for (const auto &lane : next)
      for (size_t i = 0; i < lane.second; i++) {
        const pprof_event &event = lanes_[lane.first][i];
        if (event.kind == PPROF_KIND_RANGE && event.end_ns > event.start_ns &&
            event.end_ns < time_ns)
          open->push_back(event);
      }
  }

  pprof_status Begin(pprof_sink *sink) {
    ppi_text texts[] = {{"uuid", uuid_.c_str()},
                        {"host", host_.c_str()},
                        {"pid", pid_.c_str()},
                        {"rank", rank_.c_str()},
                        {"time_base_realtime_ns", began_.c_str()}};
    pprof_run_info info = {texts, began_.empty() ? 4u : 5u, nullptr};
    pprof_status status = sink->begin(sink, &info);
    for (const Definition &from : definitions_) {
      pprof_definition definition = {from.kind, from.id,     from.parent,
                                     0,         from.number, from.name.c_str()};
      if (status == PPROF_STATUS_OK) status = sink->define(sink, &definition);
    }
    return status;
  }

  pprof_status Finish(pprof_sink *sink) {
    ppi_tally tally = {};
    for (auto &lane : lanes_)
      for (pprof_event &event : lane.second) {
        pprof_batch batch = {};
        batch.stride = sizeof event;
        batch.events = &event;
        batch.num_events = 1;
        pprof_status status = ppi_tally_batch(&tally, &batch);
        if (status == PPROF_STATUS_OK) continue;
        ppi_tally_clear(&tally);
        return status;
      }
    ppi_total *counted = nullptr;
    size_t num = 0;
    pprof_status status =
        ppi_tally_items_beside(&tally, nullptr, &counted, &num);
    ppi_tally_clear(&tally);
    if (status != PPROF_STATUS_OK) return status;
    std::vector<ppi_total> items(counted, counted + num);
    ppi_free(counted);
    for (const auto &total : totals_)
      items.push_back(
          {PPROF_ALL_LANES, static_cast<uint32_t>(total.first), total.second});
    std::vector<ppi_text> notes;
    for (const auto &note : notes_)
      notes.push_back({note.first.c_str(), note.second.c_str()});
    pprof_totals totals = {items.data(), items.size(), notes.data(),
                           notes.size()};
    return sink->finish(sink, &totals);
  }

  static constexpr uint64_t kGarbage = uint64_t{1} << 62;
  std::vector<Definition> definitions_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> sites_;
  std::map<uint32_t, bool> categories_;
  std::map<uint32_t, std::deque<pprof_event>> lanes_;
  std::vector<Window> windows_;
  std::vector<pprof_event> unended_;
  uint64_t last_checkpoint_ns_ = 0;
  bool lists_delivered_ = false;
  std::map<ppi_total_key, uint64_t> totals_;
  std::vector<std::pair<std::string, std::string>> notes_;
  std::string uuid_ = "00000000000000000000000000000001", pid_ = "1";
  std::string rank_, began_, host_ = "testhost";
};

}  // namespace pprof_test
