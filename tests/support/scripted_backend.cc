// SPDX-License-Identifier: Apache-2.0
//
// The scripted device. One mutex per device guards all of it; the registry of
// devices is the only thing they share.
#include "scripted_backend.h"

#include <atomic>
#include <deque>
#include <vector>

#include "scripted_device.h"

namespace {

using scripted::Event;
using scripted::Operation;

struct Stream {
  scripted_device *device;
  uint64_t pool;
  uint64_t id;
  bool timed = true, capturing = false, held = false;
  uint64_t end_ns = 0;
  uint64_t capture = 0;  // counts
  std::deque<Operation> waiting;
  std::vector<Operation> captured;

  void Perform(const Operation &operation, uint64_t not_before_ns) {
    uint64_t begin_ns = operation.put_ns;
    if (begin_ns < end_ns) begin_ns = end_ns;
    if (begin_ns < not_before_ns) begin_ns = not_before_ns;
    end_ns = begin_ns + operation.duration_ns;
    Event *event = operation.event;
    if (!event) return;
    event->happens = true;
    event->true_ns = end_ns;
    scripted_record &record = device->records[event->record];
    record.true_ns = end_ns;
    record.device_ns = device->Clock(end_ns);
    record.happens = true;
  }

  void Put(const Operation &operation) {
    if (held)
      waiting.push_back(operation);
    else
      Perform(operation, 0);
  }
};

std::mutex registry_mutex;

std::vector<scripted_device *> &Registry() {
  static auto *devices = new std::vector<scripted_device *>;
  return *devices;
}

scripted_device *Device(void *context) {
  return static_cast<scripted_device *>(context);
}

using Lock = std::lock_guard<std::mutex>;

pprof_status Open(int index, void **out_context, pprof_error *error) {
  scripted_device *device = nullptr;
  {
    Lock lock(registry_mutex);
    if (index >= 0 && static_cast<size_t>(index) < Registry().size())
      device = Registry()[static_cast<size_t>(index)];
  }
  const char *why = device ? device->script.open_error : "no such device";
  if (why) {
    if (error) snprintf(error->text, sizeof error->text, "%s", why);
    return PPROF_STATUS_UNAVAILABLE;
  }
  *out_context = device;
  return PPROF_STATUS_OK;
}

void Close(void *) {}

pprof_status CollectorEnter(void *context) {
  scripted_device *device = Device(context);
  Lock lock(device->mutex);
  device->entered = true;
  device->collector = std::this_thread::get_id();
  return PPROF_STATUS_OK;
}

pprof_status StreamInfo(void *context, void *handle, pprof_stream_info *out) {
  scripted_device *device = Device(context);
  auto *stream = static_cast<Stream *>(handle);
  Lock lock(device->mutex);
  if (device->IsBroken()) return PPROF_STATUS_DEVICE;
  if (!stream || stream->device != device) return PPROF_STATUS_INVALID;
  if (!stream->timed) return PPROF_STATUS_UNSUPPORTED;
  out->capturing = stream->capturing;
  if (out->capturing_only) return PPROF_STATUS_OK;
  out->stable_id = stream->id;
  out->pool = stream->pool;
  return PPROF_STATUS_OK;
}

pprof_status EventCreate(void *context, uint64_t pool, size_t num,
                         void **out_events) {
  scripted_device *device = Device(context);
  Lock lock(device->mutex);
  device->CheckCollector("event_create not on the collector's thread");
  if (device->broken) return PPROF_STATUS_DEVICE;
  if (!pool && device->script.no_pool_0) return PPROF_STATUS_INVALID;
  if (device->IsGone(pool)) return PPROF_STATUS_UNAVAILABLE;
  device->num_creates++;
  if (device->fail_creates ||
      device->num_creates == device->script.fail_create_at)
    return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < num; i++) {
    auto *event = new Event;
    event->device = device;
    event->pool = pool;
    out_events[i] = event;
    device->events.push_back(event);
  }
  device->num_live += num;
  return PPROF_STATUS_OK;
}

void EventDestroy(void *context, uint64_t pool, size_t num, void **events) {
  scripted_device *device = Device(context);
  Lock lock(device->mutex);
  device->CheckCollector("event_destroy not on the collector's thread");
  for (size_t i = 0; i < num; i++) {
    auto *event = static_cast<Event *>(events[i]);
    if (event->destroyed) {
      device->Violation("event destroyed twice");
      continue;
    }
    if (event->in_graph) device->Violation("event of a graph destroyed");
    if (event->pool != pool) device->Violation("event of another pool");
    event->destroyed = true;
    device->num_live--;
  }
}

bool HasHappened(scripted_device *device, const Event *event) {
  return event->happens && device->Now() >= event->true_ns;
}

bool IsReady(scripted_device *device, const Event *event) {
  uint64_t delay_ns = event->awaited ? 0 : device->script.ready_delay_ns;
  return event->happens && device->Now() >= event->true_ns + delay_ns;
}

bool MayRecord(scripted_device *device, const Event *event,
               const Stream *stream) {
  if (event->destroyed) device->Violation("event recorded after its destroy");
  if (event->in_graph) device->Violation("event of a graph recorded");
  if (event->recorded && !HasHappened(device, event))
    device->Violation("event recorded again before it happened");
  if (event->pool != stream->pool) {
    device->Violation("event recorded on a stream of another pool");
    return false;
  }
  if (!stream->timed) device->Violation("recorded on a stream without times");
  if (stream->capturing) device->Violation("recorded on a capturing stream");
  return !event->destroyed && stream->timed && !stream->capturing;
}

pprof_status EventRecord(void *context, void *handle, void *stream_handle) {
  scripted_device *device = Device(context);
  auto *event = static_cast<Event *>(handle);
  auto *stream = static_cast<Stream *>(stream_handle);
  Lock lock(device->mutex);
  if (device->IsBroken()) return PPROF_STATUS_DEVICE;
  if (!stream || stream->device != device) return PPROF_STATUS_INVALID;
  if (device->IsGone(event->pool)) return PPROF_STATUS_UNAVAILABLE;
  device->num_record_calls++;
  if (device->fail_records ||
      device->num_record_calls == device->script.fail_record_at)
    return PPROF_STATUS_INVALID;
  if (!MayRecord(device, event, stream)) return PPROF_STATUS_INVALID;
  size_t k = device->records.size();
  uint64_t latency_ns =
      device->latencies_ns.empty()
          ? 0
          : device->latencies_ns[k % device->latencies_ns.size()];
  uint64_t now_ns = device->Now();
  event->recorded = true;
  event->awaited = false;
  event->happens = false;
  event->record = k;
  device->records.push_back({stream, event, now_ns, 0, 0, false});
  stream->Put({event, now_ns, latency_ns});
  return PPROF_STATUS_OK;
}

pprof_status EventQuery(void *context, void *handle) {
  scripted_device *device = Device(context);
  auto *event = static_cast<Event *>(handle);
  Lock lock(device->mutex);
  device->CheckCollector("event_query not on the collector's thread");
  if (device->IsBroken()) return PPROF_STATUS_DEVICE;
  if (device->IsGone(event->pool)) return PPROF_STATUS_UNAVAILABLE;
  if (event->destroyed) device->Violation("event queried after its destroy");
  if (!event->recorded && event->in_graph) return PPROF_STATUS_OK;
  if (!event->recorded) {
    device->Violation("event queried that was never recorded");
    return PPROF_STATUS_OK;  // as CUDA answers
  }
  return IsReady(device, event) ? PPROF_STATUS_OK : PPROF_STATUS_BUSY;
}

pprof_status CheckRead(scripted_device *device, const Event *event) {
  if (event->destroyed) device->Violation("event read after its destroy");
  if (event->in_graph && !event->recorded) return PPROF_STATUS_INVALID;
  if (!event->recorded) {
    device->Violation("event read that was never recorded");
    return PPROF_STATUS_INVALID;
  }
  if (IsReady(device, event)) return PPROF_STATUS_OK;
  if (event->in_graph) return PPROF_STATUS_BUSY;
  device->Violation("event read before it was ready");
  return PPROF_STATUS_BUSY;
}

pprof_status EventElapsed(void *context, void *from_handle, void *to_handle,
                          int64_t *out_ns) {
  scripted_device *device = Device(context);
  auto *from = static_cast<Event *>(from_handle);
  auto *to = static_cast<Event *>(to_handle);
  Lock lock(device->mutex);
  device->CheckCollector("event_elapsed not on the collector's thread");
  if (device->IsBroken()) return PPROF_STATUS_DEVICE;
  bool absolute = device->script.caps & PPROF_BACKEND_ABSOLUTE_TIME;
  if (device->IsGone(to->pool)) return PPROF_STATUS_UNAVAILABLE;
  if (!from && !absolute) return PPROF_STATUS_UNSUPPORTED;
  pprof_status status = CheckRead(device, to);
  if (!status && from) status = CheckRead(device, from);
  if (status) return status;
  if (from && from->pool != to->pool) {
    device->Violation("events of two pools compared");
    return PPROF_STATUS_INVALID;
  }
  int64_t ns = device->Clock(to->true_ns);
  if (from) ns -= device->Clock(from->true_ns);
  if (!absolute) {
    auto ms = static_cast<float>(static_cast<double>(ns) / 1e6);
    double rounded = static_cast<double>(ms) * 1e6;
    ns = static_cast<int64_t>(rounded + (rounded < 0 ? -0.5 : 0.5));
  }
  *out_ns = ns;
  return PPROF_STATUS_OK;
}

pprof_status Anchor(void *context, uint64_t pool, pprof_anchor *out) {
  scripted_device *device = Device(context);
  auto *event = static_cast<Event *>(out->event);
  Lock lock(device->mutex);
  device->CheckCollector("anchor not on the collector's thread");
  if (device->IsBroken()) return PPROF_STATUS_DEVICE;
  if (out->size < sizeof *out) device->Violation("anchor without its size");
  if (device->IsGone(pool)) return PPROF_STATUS_UNAVAILABLE;
  if (!event || event->pool != pool || event->destroyed) {
    device->Violation("anchor without an event of its pool");
    return PPROF_STATUS_INVALID;
  }
  if (event->recorded && !HasHappened(device, event))
    device->Violation("event recorded again before it happened");
  event->recorded = true;
  event->awaited = true;
  event->happens = !device->starve_anchors;
  if (device->starve_anchors) return PPROF_STATUS_BUSY;
  const scripted_script &script = device->script;
  uint64_t after_ns = device->Now();
  uint64_t before_ns = after_ns - script.anchor_width_ns;
  event->true_ns = before_ns + script.anchor_width_ns *
                                   script.anchor_position_permille / 1000;
  out->host_before_ns = before_ns;
  out->host_after_ns = after_ns;
  bool absolute = script.caps & PPROF_BACKEND_ABSOLUTE_TIME;
  out->device_ns = absolute ? device->Clock(event->true_ns) : 0;
  return PPROF_STATUS_OK;
}

pprof_status PoolCheck(void *context, uint64_t pool) {
  scripted_device *device = Device(context);
  Lock lock(device->mutex);
  device->CheckCollector("pool_check not on the collector's thread");
  if (!device->gone_pools.count(pool)) return PPROF_STATUS_OK;
  device->gone_pools[pool] = true;
  return PPROF_STATUS_UNAVAILABLE;
}

pprof_status EventRecordInGraph(void *context, void *handle,
                                void *stream_handle, uint64_t *out_capture) {
  scripted_device *device = Device(context);
  auto *event = static_cast<Event *>(handle);
  auto *stream = static_cast<Stream *>(stream_handle);
  Lock lock(device->mutex);
  if (device->IsBroken()) return PPROF_STATUS_DEVICE;
  if (!stream || stream->device != device) return PPROF_STATUS_INVALID;
  if (!stream->capturing) return PPROF_STATUS_UNSUPPORTED;
  if (event->pool != stream->pool || event->destroyed)
    device->Violation("event put into a graph of another pool");
  if (event->recorded && !HasHappened(device, event))
    device->Violation("event put into a graph before it happened");
  if (!event->in_graph) device->num_live--;
  event->in_graph = true;
  stream->captured.push_back({event, 0, 0});
  *out_capture = stream->capture;
  return PPROF_STATUS_OK;
}

const char *ErrorText(void *context) {
  scripted_device *device = Device(context);
  Lock lock(device->mutex);
  device->CheckCollector("error_text not on the collector's thread");
  return device->script.error_text;
}

pprof_backend MakeTable(const scripted_script &script) {
  pprof_backend table = {};
  table.size = sizeof table;
  table.name = script.name ? script.name : "scripted";
  table.caps = script.caps;
  table.open = Open;
  table.close = Close;
  table.collector_enter = CollectorEnter;
  table.stream_info = StreamInfo;
  table.event_create = EventCreate;
  table.event_destroy = EventDestroy;
  table.event_record = EventRecord;
  table.event_query = EventQuery;
  table.event_elapsed = EventElapsed;
  table.anchor = script.no_anchor ? nullptr : Anchor;
  table.untimed_hint = script.untimed_hint;
  table.pool_check = PoolCheck;
  table.event_record_in_graph = EventRecordInGraph;
  table.error_text = ErrorText;
  table.caveat = script.caveat;
  return table;
}

Stream *AsStream(void *stream) {
  return static_cast<Stream *>(stream);
}

}  // namespace

scripted_device *scripted_device_create(const scripted_script *script) {
  auto *device = new scripted_device;
  device->script = *script;
  if (script->num_latencies)
    device->latencies_ns.assign(script->latencies_ns,
                                script->latencies_ns + script->num_latencies);
  device->backend = MakeTable(*script);
  device->zero_ns = device->Now();
  Lock lock(registry_mutex);
  device->index = static_cast<int>(Registry().size());
  Registry().push_back(device);
  return device;
}

const pprof_backend *scripted_device_backend(scripted_device *device) {
  return &device->backend;
}

int scripted_device_index(scripted_device *device) {
  return device->index;
}

void scripted_device_break(scripted_device *device) {
  Lock lock(device->mutex);
  device->broken = true;
}

void scripted_device_starve_anchors(scripted_device *device, bool starve) {
  Lock lock(device->mutex);
  device->starve_anchors = starve;
}

void scripted_device_fail_creates(scripted_device *device, bool fail) {
  Lock lock(device->mutex);
  device->fail_creates = fail;
}

void scripted_device_fail_records(scripted_device *device, bool fail) {
  Lock lock(device->mutex);
  device->fail_records = fail;
}

void *scripted_stream_create(scripted_device *device, uint64_t pool) {
  static std::atomic<uint64_t> last_id{0};
  auto *stream = new Stream;
  stream->device = device;
  stream->pool = pool;
  stream->id = ++last_id;
  Lock lock(device->mutex);
  device->streams.push_back(stream);
  return stream;
}

void scripted_stream_set_timed(void *stream, bool timed) {
  Lock lock(AsStream(stream)->device->mutex);
  AsStream(stream)->timed = timed;
}

void scripted_stream_set_capturing(void *stream, bool capturing) {
  Lock lock(AsStream(stream)->device->mutex);
  AsStream(stream)->capturing = capturing;
  AsStream(stream)->capture++;
  AsStream(stream)->captured.clear();
}

void scripted_stream_hold(void *handle, bool hold) {
  Stream *stream = AsStream(handle);
  Lock lock(stream->device->mutex);
  stream->held = hold;
  if (hold) return;
  uint64_t now_ns = stream->device->Now();
  for (const Operation &operation : stream->waiting)
    stream->Perform(operation, now_ns);
  stream->waiting.clear();
}

void scripted_stream_submit(void *handle, uint64_t duration_ns) {
  Stream *stream = AsStream(handle);
  Lock lock(stream->device->mutex);
  Operation work = {nullptr, stream->device->Now(), duration_ns};
  if (stream->capturing)
    stream->captured.push_back(work);
  else
    stream->Put(work);
}

uint64_t scripted_stream_end_ns(void *handle) {
  Stream *stream = AsStream(handle);
  Lock lock(stream->device->mutex);
  return stream->waiting.empty() ? stream->end_ns : UINT64_MAX;
}

size_t scripted_device_num_records(scripted_device *device) {
  Lock lock(device->mutex);
  return device->records.size();
}

bool scripted_device_record(scripted_device *device, size_t i,
                            scripted_record *out) {
  Lock lock(device->mutex);
  if (i >= device->records.size()) return false;
  *out = device->records[i];
  return true;
}

int64_t scripted_device_clock(scripted_device *device, uint64_t host_ns) {
  Lock lock(device->mutex);
  return device->Clock(host_ns);
}

void scripted_stream_remake(void *handle) {
  void *other =
      scripted_stream_create(AsStream(handle)->device, AsStream(handle)->pool);
  Lock lock(AsStream(handle)->device->mutex);
  std::swap(AsStream(handle)->id, AsStream(other)->id);
}

void scripted_device_destroy_pool(scripted_device *device, uint64_t pool) {
  Lock lock(device->mutex);
  device->gone_pools.emplace(pool, false);
  for (Event *event : device->events)
    if (event->pool == pool && !event->destroyed && !event->in_graph) {
      event->destroyed = true;
      device->num_live--;
    }
}

struct scripted_graph {
  std::vector<Operation> operations;
};

scripted_graph *scripted_stream_end_capture(void *handle) {
  static auto *graphs = new std::vector<scripted_graph *>;
  Stream *stream = AsStream(handle);
  Lock lock(stream->device->mutex);
  auto *graph = new scripted_graph{stream->captured};
  stream->captured.clear();
  stream->capturing = false;
  graphs->push_back(graph);
  return graph;
}

void scripted_graph_launch(scripted_graph *graph, void *handle) {
  Stream *stream = AsStream(handle);
  scripted_device *device = stream->device;
  Lock lock(device->mutex);
  uint64_t now_ns = device->Now();
  for (const Operation &operation : graph->operations)
    if (Event *event = operation.event) {
      event->recorded = true;
      event->happens = false;
      event->record = device->records.size();
      device->records.push_back({stream, event, now_ns, 0, 0, false});
    }
  for (Operation operation : graph->operations) {
    operation.put_ns = now_ns;
    stream->Put(operation);
  }
}

size_t scripted_device_num_live_events(scripted_device *device) {
  Lock lock(device->mutex);
  return device->num_live;
}

size_t scripted_device_num_calls_after_error(scripted_device *device) {
  Lock lock(device->mutex);
  return device->num_calls_after_error;
}

size_t scripted_device_num_violations(scripted_device *device) {
  Lock lock(device->mutex);
  return device->num_violations;
}

const char *scripted_device_first_violation(scripted_device *device) {
  Lock lock(device->mutex);
  return device->first_violation.c_str();
}
