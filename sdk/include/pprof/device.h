// SPDX-License-Identifier: Apache-2.0
//
// Device ranges, devices, and the table by which a backend reaches a device.
//
// A device range has a host side (from begin to end of the submitting code) and
// a device side (from an event recorded in the stream at begin to one recorded
// at end); one record carries both. Nothing here waits for a device: times
// arrive later, on the collector's thread. Without a device time the host side
// is recorded, and the report says why. docs/devices.md defines a device time.
//
// Example:
//   pprof_device *gpu = pprof_device_get(pprof_backend_opencl(), 0);
//   PPROF_SITE(blur, "blur", PPROF_CATEGORY_KERNEL);
//   pprof_device_push(gpu, queue, &blur);
//   enqueue(queue);
//   pprof_device_pop(gpu, queue);
//
// The marker calls follow the rules of mark.h; with PPROF_DISABLE they compile
// to nothing, and so do the ways to a device. `stream` is what the backend
// calls a stream: a cl_command_queue, a cudaStream_t, a pprof_cpu_stream *.
#ifndef PPROF_DEVICE_H_
#define PPROF_DEVICE_H_

#include "pprof/base.h"
#include "pprof/mark.h"

PPROF_BEGIN_C_

typedef struct pprof_backend pprof_backend;

// pprof_device belongs to the process and lives until it ends; sessions come
// and go over it. Markers take NULL for one: host time only.
typedef struct pprof_device pprof_device;

// pprof_device_token remembers what PPROF_DEVICE_SCOPE opened; range.id 0 =
// nothing.
typedef struct pprof_device_token {
  pprof_range range;
  void *stream;
} pprof_device_token;

#ifdef PPROF_DISABLE
static inline pprof_device_token pprof_no_device_scope_(void) {
  pprof_device_token none = {{0}, PPROF_NULL_};
  return none;
}
#endif

// pprof_device_get is device `index` of `backend`. It never fails: a device
// that is not there is inert.
//
// Result: the same device for the same backend and index.
// Owns:   nothing; `*backend` must live as long as the process.
// Cost:   may load and start a driver; not for hot code.
PPROF_API pprof_device *pprof_device_get(const pprof_backend *backend,
                                         int index) PPROF_OFF_(PPROF_NULL_);

// pprof_device_available: whether `device` (may be NULL) gives times; if not,
// `why_not` is the reason.
PPROF_API bool pprof_device_available(pprof_device *device,
                                      pprof_error *why_not)
    PPROF_OFF_(pprof_refuse_(why_not) == PPROF_STATUS_OK);

// pprof_device_push opens a device range of the calling thread on `stream`.
// Each thread has one stack a stream; these ranges are no frames of the host
// stack and may overlap one another: push s1, push s2, pop s1, pop s2 is
// ordinary. Beyond 64 open ones a thread they are counted lost.
//
// Cost: one device event recorded in `stream`.
PPROF_API void pprof_device_push(pprof_device *device, void *stream,
                                 pprof_site *site) PPROF_OFF_();

// pprof_device_pop ends the innermost device range of this thread on `stream`.
// With none open it is counted unmatched.
//
// Cost: one device event recorded in `stream`.
PPROF_API void pprof_device_pop(pprof_device *device, void *stream)
    PPROF_OFF_();

// pprof_device_next is pprof_device_pop, then pprof_device_push, where the two
// ranges share one device event: stages that follow each other without a gap.
//
// Cost: one device event recorded in `stream`.
//
// Example:
//   PPROF_SITE(upload, "upload", PPROF_CATEGORY_MEMCPY);
//   PPROF_SITE(detect, "detect", PPROF_CATEGORY_INFERENCE);
//   pprof_device_push(gpu, queue, &upload);
//   enqueue(queue);
//   pprof_device_next(gpu, queue, &detect);
//   enqueue(queue);
//   pprof_device_pop(gpu, queue);
PPROF_API void pprof_device_next(pprof_device *device, void *stream,
                                 pprof_site *site) PPROF_OFF_();

// pprof_device_range_begin opens a device range that may end on another thread
// and on another stream. pprof_range_flow and pprof_range_work take it too;
// what ends it is pprof_device_range_end.
//
// Result: id 0 while nothing records, or when it could not be kept.
// Cost:   one device event recorded in `stream`.
PPROF_API pprof_range pprof_device_range_begin(pprof_device *device,
                                               void *stream, pprof_site *site)
    PPROF_OFF_(pprof_no_range_());

// pprof_device_range_end ends `range` on `stream`, a stream of the device it
// began on. Ending it twice is counted unmatched.
//
// Cost: one device event recorded in `stream`.
PPROF_API void pprof_device_range_end(pprof_range range, void *stream)
    PPROF_OFF_();

// pprof_device_work adds `work` to the innermost open device range of this
// thread on `stream`.
PPROF_API void pprof_device_work(pprof_device *device, void *stream,
                                 const pprof_work_amount *work) PPROF_OFF_();

// pprof_stream_name names the row of `stream` in the timeline; the latest name
// counts.
//
// Owns: nothing; `name` is copied.
PPROF_API void pprof_stream_name(pprof_device *device, void *stream,
                                 const char *name) PPROF_OFF_();

// For inline code only.
PPROF_API pprof_device_token pprof_device_scope_push_(pprof_device *device,
                                                      void *stream,
                                                      pprof_site *site)
    PPROF_OFF_(pprof_no_device_scope_());
PPROF_API void pprof_device_scope_pop_(const pprof_device_token *token)
    PPROF_OFF_();
static inline pprof_device_token pprof_device_scope_enter_(pprof_device *device,
                                                           void *stream,
                                                           pprof_site *site) {
  pprof_device_token none = {{0}, PPROF_NULL_};
  return PPROF_RECORDS_() ? pprof_device_scope_push_(device, stream, site)
                          : none;
}
static inline void pprof_device_scope_exit_(const pprof_device_token *token) {
  if (token->range.id) pprof_device_scope_pop_(token);
}

// PPROF_DEVICE_SCOPE opens a device range of category INFERENCE that ends with
// the enclosing block; it follows the rules of PPROF_SCOPE.
//
// Cost: two device events recorded in `stream`.
#define PPROF_DEVICE_SCOPE(device, stream, label) \
  PPROF_DEVICE_SCOPE_N_(device, stream, label, __COUNTER__)

#define PPROF_DEVICE_SCOPE_N_(device, stream, label, n)                    \
  PPROF_SITE(PPROF_CAT_(pprof_site_, n), label, PPROF_CATEGORY_INFERENCE); \
  __attribute__((cleanup(pprof_device_scope_exit_), unused))               \
  const pprof_device_token                                                 \
  PPROF_CAT_(pprof_token_, n) =                                            \
      pprof_device_scope_enter_(device, stream, &PPROF_CAT_(pprof_site_, n))

// The backends that come with the library. Each is a constant; none loads
// anything before pprof_device_get. docs/devices.md says what they need, and
// what those not yet served answer.
PPROF_API const pprof_backend *pprof_backend_cpu(void) PPROF_OFF_(PPROF_NULL_);
PPROF_API const pprof_backend *pprof_backend_opencl(void)
    PPROF_OFF_(PPROF_NULL_);
PPROF_API const pprof_backend *pprof_backend_cuda(void) PPROF_OFF_(PPROF_NULL_);
PPROF_API const pprof_backend *pprof_backend_hip(void) PPROF_OFF_(PPROF_NULL_);

// pprof_cpu_stream is an in-order queue of functions with one worker thread:
// the stream of the cpu backend's only device, index 0. It works with and
// without a session. With PPROF_DISABLE it works, too; it then still needs the
// library.
typedef struct pprof_cpu_stream pprof_cpu_stream;

// pprof_cpu_stream_create starts a stream and its thread, which has all signals
// blocked.
//
// Errors: NO_MEMORY, also when no thread can be started.
// Owns:   the caller owns `*out`.
PPROF_EXPORTED_ PPROF_NODISCARD pprof_status
pprof_cpu_stream_create(pprof_cpu_stream **out);

// pprof_cpu_stream_submit has `run(argument)` called on the stream's thread
// after all that was submitted before.
//
// Errors: INVALID: `run` is NULL; NO_MEMORY; UNAVAILABLE in a forked child,
//         which has no such thread.
// Owns:   nothing; `argument` must live until it ran.
//
// Example:
//   pprof_cpu_stream *stream;
//   if (pprof_cpu_stream_create(&stream)) return;
//   pprof_device *cpu = pprof_device_get(pprof_backend_cpu(), 0);
//   PPROF_SITE(sort, "sort", PPROF_CATEGORY_CPU_TASK);
//   pprof_device_push(cpu, stream, &sort);
//   if (pprof_cpu_stream_submit(stream, run_sort, NULL)) perror("submit");
//   pprof_device_pop(cpu, stream);
//   pprof_cpu_stream_destroy(stream);
PPROF_EXPORTED_ PPROF_NODISCARD pprof_status pprof_cpu_stream_submit(
    pprof_cpu_stream *stream, void (*run)(void *), void *argument);

// pprof_cpu_stream_synchronize waits until all that was submitted before the
// call has run. Never call it from a function that runs on `stream`.
PPROF_EXPORTED_ void pprof_cpu_stream_synchronize(pprof_cpu_stream *stream);

// pprof_cpu_stream_destroy runs what was submitted, then ends the thread. NULL
// does nothing.
//
// Threads: the owner of `stream`.
PPROF_EXPORTED_ void pprof_cpu_stream_destroy(pprof_cpu_stream *stream);

// The rest is for people who bring their own device.

// pprof_anchor pairs the device's clock with the host's. The host times are
// CLOCK_MONOTONIC.
typedef struct pprof_anchor {
  size_t size;  // set by the library
  // The device's clock was read between these two times, ns.
  uint64_t host_before_ns, host_after_ns;
  // Set by the library: an event of the pool, not in use. The backend records
  // it and waits, 100 us at most, until it is ready; times of other events are
  // taken against it. It stays the library's.
  void *event;
  // With PPROF_BACKEND_ABSOLUTE_TIME: the device's time of `event`, ns.
  int64_t device_ns;
} pprof_anchor;

// pprof_stream_info is what a marker needs to know of a stream. Handles come
// back for other streams; what was answered before may serve, and need not.
typedef struct pprof_stream_info {
  size_t size;         // set by the library
  uint64_t stable_id;  // no other stream's; not reused where that is possible
  uint64_t pool;       // events are made per pool, e.g. a context
  bool capturing;      // a graph is being captured: insert nothing; stable_id
                       // may be 0 then, where asking would end the capture
  // Set by the library: only `capturing` is read; the rest is known.
  bool capturing_only;
  // Set by the library: the last answer for this handle, or NULL. A stream with
  // its stable_id still has its pool.
  const struct pprof_stream_info *known;
} pprof_stream_info;

#define PPROF_BACKEND_ABSOLUTE_TIME 1u    // event_elapsed takes NULL for `from`
#define PPROF_BACKEND_CAPTURE 2u          // streams can capture graphs
#define PPROF_BACKEND_CREATE_ANYWHERE 4u  // event_create is for any thread

// pprof_backend is a table of functions, a constant that lives as long as the
// process. Fields are only appended. All are required but those marked
// optional (NULL). DEVICE from any of them ends device timing for the session,
// UNAVAILABLE that of one pool, which is gone with all its events; host timing
// goes on. Any other error costs one range its device time. A backend leaves
// the program's own error state alone and never ends the process.
struct pprof_backend {
  size_t size;       // sizeof(pprof_backend)
  const char *name;  // "opencl"; the device is shown as "opencl:0"
  uint32_t caps;     // PPROF_BACKEND_... values

  // open (optional) gets at device `index`. Any thread, once per device; may
  // block. Without it the device is there, and `context` NULL.
  //
  // Errors: UNAVAILABLE, with the reason in `error`.
  pprof_status (*open)(int index, void **out_context, pprof_error *error);

  // close (optional) gives back what open took; no other call follows. The
  // library itself keeps a device until the process ends.
  void (*close)(void *context);

  // collector_enter (optional) prepares the collector's thread (current
  // context, capture mode), once, before its first call.
  pprof_status (*collector_enter)(void *context);

  // stream_info (optional) describes `stream`. The marking thread; must not
  // block. Without it a stream is its address, of pool 0, never capturing.
  //
  // Errors: UNSUPPORTED: this stream gives no times; INVALID: not a stream.
  pprof_status (*stream_info)(void *context, void *stream,
                              pprof_stream_info *out);

  // event_create makes `num` events, all or none. The collector's thread; with
  // PPROF_BACKEND_CREATE_ANYWHERE also a marking thread that is the first to
  // meet a pool, at the same time as the collector makes other calls. Without
  // that the first ranges of a pool but 0 have no device time.
  pprof_status (*event_create)(void *context, uint64_t pool, size_t num,
                               void **out_events);

  // event_destroy takes events in any state. The collector's thread.
  void (*event_destroy)(void *context, uint64_t pool, size_t num,
                        void **events);

  // event_record puts `event` into `stream`; it may have been recorded and read
  // before. The marking thread; must not block.
  pprof_status (*event_record)(void *context, void *event, void *stream);

  // event_query asks for a recorded event. The collector's thread; must not
  // block.
  //
  // Result: OK: passed; BUSY: not yet; DEVICE: it never will.
  pprof_status (*event_query)(void *context, void *event);

  // event_elapsed is the time from `from` to `to`, both passed, in ns; with
  // PPROF_BACKEND_ABSOLUTE_TIME and `from` NULL the device's time of `to`. The
  // collector's thread.
  //
  // Errors: UNSUPPORTED: there is no time for them.
  pprof_status (*event_elapsed)(void *context, void *from, void *to,
                                int64_t *out_ns);

  // anchor (optional) fills `out`. Without it a device time lies between its
  // marker and the first look that finds it over. The collector's thread; waits
  // 100 us at most.
  //
  // Errors: BUSY: the device is occupied; asked again later.
  pprof_status (*anchor)(void *context, uint64_t pool, pprof_anchor *out);

  // untimed_hint (optional) says why stream_info answers UNSUPPORTED and what
  // to do, e.g. "the queue was made without CL_QUEUE_PROFILING_ENABLE".
  const char *untimed_hint;

  // pool_check (optional): whether `pool` still exists. The collector's thread,
  // before it asks for events of the pool.
  //
  // Errors: UNAVAILABLE: it is gone, and its events must not be touched.
  pprof_status (*pool_check)(void *context, uint64_t pool);

  // event_record_in_graph (optional) makes recording `event` a node of the
  // graph that `stream` captures: each launch of the graph records it again;
  // event_elapsed answers BUSY from the launch until then. `*out_capture` is
  // the number of that capture. The marking thread; must not block. Such an
  // event is never destroyed.
  //
  // Errors: UNSUPPORTED: not now, or not at all.
  pprof_status (*event_record_in_graph)(void *context, void *event,
                                        void *stream, uint64_t *out_capture);

  // error_text (optional) names what made it answer DEVICE, e.g.
  // "CUDA_ERROR_ILLEGAL_ADDRESS (700)", for the report. The collector's thread;
  // must not touch the device.
  //
  // Result: valid until close; NULL: nothing is known.
  const char *(*error_text)(void *context);

  // caveat (optional) stands in every report of a session that had a device of
  // this backend, e.g. "not run on hardware".
  const char *caveat;
};

PPROF_END_C_

#endif  // PPROF_DEVICE_H_
