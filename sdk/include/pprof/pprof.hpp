// SPDX-License-Identifier: Apache-2.0
//
// The markers for C++11 and up: objects that end what they began, also when an
// exception passes. Header only, over mark.h and device.h, whose promises hold;
// it throws nothing and needs neither exceptions nor RTTI. PPROF_DISABLE
// compiles it to nothing, as it does the calls below it.
//
// Example:
//   PPROF_SITE(decode_site, "decode", PPROF_CATEGORY_PREPROCESS);
//   {
//     pprof::scope here(decode_site);    // a named place: cheapest
//     decode();
//   }
//   {
//     pprof::scope here(layer.name());   // a name known at run time
//     decode();
//   }
//   pprof::range upload("upload", pprof::category::memcpy);
//   jobs.push([range = std::move(upload)]() mutable {
//     range.end();                       // on whatever thread it came to
//   });
//
//   what happens                                    use
//   a block of code takes time                      scope
//   it ends on another thread, or with an object    range
//   a device works for a block                      device_scope
//   the same, and it ends elsewhere                 device_range
//   a moment, a quantity, a request, a round        mark, count, flow, step
//   the program has sinks of its own                session
//
// A program starts and ends recording by the C calls: pprof_start and
// pprof_stop of pprof/pprof.h. Wherever a constructor or a call takes a site it
// takes a name and a category as well.
//
// A name may be a const char *, a std::string or, from C++17 on, a
// std::string_view, of which 511 bytes count. It is borrowed for the call and
// looked up at each; nothing is allocated. A site is cheaper.
#ifndef PPROF_PPROF_HPP_
#define PPROF_PPROF_HPP_

#ifndef __cplusplus
#error "pprof/pprof.hpp is for C++; C has pprof/mark.h"
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#if __cplusplus >= 201703L
#include <string_view>
#endif

// PPROF_HPP_HOLD_ makes a compiler warn of `pprof::scope("x");`, which has no
// name: an object that nobody holds ends at once what it began.
#if __cplusplus >= 201703L && defined(__has_cpp_attribute)
#if __has_cpp_attribute(nodiscard) >= 201907L
#define PPROF_HPP_HOLD_ [[nodiscard]]
#endif
#endif
#ifndef PPROF_HPP_HOLD_
#define PPROF_HPP_HOLD_
#endif

#include "pprof/base.h"
#include "pprof/device.h"
#include "pprof/mark.h"
#include "pprof/session.h"

namespace pprof {

// Files with PPROF_DISABLE and without may be parts of one program: their
// inline functions have different names.
#ifdef PPROF_DISABLE
inline namespace disabled_ {
#else
inline namespace enabled_ {
#endif

// site is a named place in the code, made with PPROF_SITE outside of functions
// or inside them; it lives as long as the program.
//
// Example:
//   PPROF_SITE(parse_site, "parse", PPROF_CATEGORY_PREPROCESS);
//   pprof::scope here(parse_site);
using site = ::pprof_site;

// category is what kind of thing a range is: the rows of the Overview table.
// The values are those of mark.h; register_category makes others.
enum class category : std::uint32_t {
  user_defined = PPROF_CATEGORY_USER_DEFINED,
  dataloader = PPROF_CATEGORY_DATALOADER,
  forward = PPROF_CATEGORY_FORWARD,
  backward = PPROF_CATEGORY_BACKWARD,
  optimization = PPROF_CATEGORY_OPTIMIZATION,
  communication = PPROF_CATEGORY_COMMUNICATION,
  op = PPROF_CATEGORY_OPERATOR,
  op_inner = PPROF_CATEGORY_OPERATOR_INNER,
  runtime = PPROF_CATEGORY_RUNTIME,
  preprocess = PPROF_CATEGORY_PREPROCESS,
  inference = PPROF_CATEGORY_INFERENCE,
  postprocess = PPROF_CATEGORY_POSTPROCESS,
  cpu_task = PPROF_CATEGORY_CPU_TASK,
  memory = PPROF_CATEGORY_MEMORY,
  kernel = PPROF_CATEGORY_KERNEL,
  memcpy = PPROF_CATEGORY_MEMCPY,
  memset = PPROF_CATEGORY_MEMSET,
  wait = PPROF_CATEGORY_WAIT,
  idle = PPROF_CATEGORY_IDLE
};

// name is what a place is called, as a call is given it: a parameter, not
// something to keep. Calls make it from a const char *, a std::string or a
// std::string_view; whoever passes it on passes it by reference.
class name {
 public:
  // Ends with a zero.
  name(const char *text) noexcept : text_(text), size_(SIZE_MAX) {}
  name(const std::string &text) noexcept
      : text_(text.c_str()), size_(SIZE_MAX) {}
#if __cplusplus >= 201703L
  name(std::string_view text) noexcept
      : text_(text.data()), size_(text.size()) {}
#endif

  const char *text() const noexcept {
    return text_;
  }

  // size is that of text(); SIZE_MAX: it ends with a zero.
  std::size_t size() const noexcept {
    return size_;
  }

 private:
  const char *text_;
  std::size_t size_;
};

// work is amounts of work, from which tables make rates: items a second, bytes
// a second, FLOP/s. 0 is not stated; what several calls say of one range adds
// up. Ranges that are objects take it by their own work().
//
// Example:
//   pprof::scope here("detect", pprof::category::inference);
//   pprof::work().items(8).flops(2e9).add();
class work {
 public:
  work() noexcept : amount_{sizeof(::pprof_work_amount), 0, 0, 0, 0} {}

  // items is e.g. images or requests, as the program counts them.
  work &items(double items) noexcept {
    amount_.items = items;
    return *this;
  }
  // bytes is how many were moved.
  work &bytes(double bytes) noexcept {
    amount_.bytes = bytes;
    return *this;
  }
  // flops is floating-point operations, not a rate.
  work &flops(double flops) noexcept {
    amount_.flops = flops;
    return *this;
  }
  // params is parameters of the model.
  work &params(double params) noexcept {
    amount_.params = params;
    return *this;
  }

  // add gives it to the innermost open range of this thread. Without one it is
  // counted in flows_lost.
  void add() const noexcept {
    ::pprof_work(&amount_);
  }

  // amount is the same for the C calls.
  const ::pprof_work_amount &amount() const noexcept {
    return amount_;
  }

 private:
  ::pprof_work_amount amount_;
};

}  // namespace enabled_ or disabled_
}  // namespace pprof

#include "pprof/hpp_detail.hpp"

namespace pprof {
#ifdef PPROF_DISABLE
inline namespace disabled_ {
#else
inline namespace enabled_ {
#endif

// scope is a range that ends with the block it stands in, by return, break or
// an exception, too. It closes what it opened and no more; ranges left open
// inside it end with it, marked abandoned. It can be neither copied nor moved:
// what has to leave its block is a range.
//
// Threads: the block stays on its thread (not across co_await).
// Cost:    of a site, that of PPROF_SCOPE: one load and one branch while
// nothing
//          records. A name is looked up at each use (docs/markers.md), and not
//          read while nothing records.
//
// Example:
//   pprof::scope here("serve", pprof::category::inference);
//   pprof::flow(frame.request);
//   serve();
class scope {
 public:
  PPROF_HPP_HOLD_ explicit scope(site &where) noexcept
      : token_(detail::enter(where)) {}
  PPROF_HPP_HOLD_ explicit scope(
      const name &label, category kind = category::user_defined) noexcept
      : token_{nullptr, 0, 0} {
    if (detail::records())
      token_ = detail::enter(detail::named_site(label, kind).get());
  }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;
  ~scope() {
    detail::leave(token_);
  }

 private:
  ::pprof_scope_token token_;
};

// range is a range that may end on another thread: whoever has the object has
// the range, and its destructor ends it. It takes no part in the thread's
// nesting. Moving it leaves an empty one behind, to which every call does
// nothing; so is one that began while nothing recorded.
//
// Threads: an object is used by one thread at a time; flow and work of its
//          handle come from any.
//
// Example:
//   auto waiting = std::make_shared<pprof::range>("in the queue");
//   waiting->flow(frame.request);
//   std::function<void()> job = [waiting] {
//     waiting->end();  // before the work, on the thread that took the job
//     serve();
//   };
//   jobs.push(job);
class range {
 public:
  // An empty one, to be moved into.
  range() noexcept : handle_{0} {}
  PPROF_HPP_HOLD_ explicit range(site &where) noexcept
      : handle_(::pprof_range_begin(&where)) {}
  PPROF_HPP_HOLD_ explicit range(
      const name &label, category kind = category::user_defined) noexcept
      : handle_{0} {
    if (detail::records())
      handle_ = ::pprof_range_begin(&detail::named_site(label, kind).get());
  }
  // Takes a range that C code began, and ends it.
  PPROF_HPP_HOLD_ explicit range(::pprof_range begun) noexcept
      : handle_(begun) {}
  range(const range &) = delete;
  range &operator=(const range &) = delete;
  range(range &&other) noexcept : handle_(other.release()) {}
  // Ends the range that it had.
  range &operator=(range &&other) noexcept {
    if (this != &other) {
      end();
      handle_ = other.release();
    }
    return *this;
  }
  ~range() {
    end();
  }

  // end ends the range now; without one it does nothing.
  void end() noexcept {
    if (handle_.id) ::pprof_range_end(release());
  }

  // flow says that the range serves `request`, work what is done in it; both
  // until it ends. pprof::flow would name the thread's innermost range instead.
  void flow(std::uint64_t request) const noexcept {
    if (handle_.id) ::pprof_range_flow(handle_, request);
  }
  void work(const pprof::work &done) const noexcept {
    if (handle_.id) ::pprof_range_work(handle_, &done.amount());
  }

  // release gives the range away: who has the handle ends it, by
  // pprof_range_end. The object is empty then.
  ::pprof_range release() noexcept {
    const ::pprof_range given = handle_;
    handle_.id = 0;
    return given;
  }

  // handle is the range for calls of mark.h, which must not end it.
  ::pprof_range handle() const noexcept {
    return handle_;
  }

  // Whether there is a range: false also while nothing records.
  explicit operator bool() const noexcept {
    return handle_.id != 0;
  }

 private:
  ::pprof_range handle_;
};

// request is a request that is served, from its arrival to its end
// (pprof_request_begin). It moves as a range does; its destructor ends it.
//
// Threads: an object is used by one thread at a time; token and serve take its
//          handle on any.
//
// Example:
//   pprof::request chat(4711, "chat");
//   chat.input(prompt.size());
//   pprof::scope iteration("decode");
//   const pprof_request served[] = {chat.handle()};
//   pprof::serve(served, 1);
//   decode();
//   chat.token();
class request {
 public:
  // An empty one, to be moved into.
  request() noexcept : handle_{0, {0}} {}
  PPROF_HPP_HOLD_ request(std::uint64_t id, site &where) noexcept
      : handle_(::pprof_request_begin(id, &where)) {}
  PPROF_HPP_HOLD_ request(std::uint64_t id, const name &label,
                          category kind = category::user_defined) noexcept
      : handle_{id, {0}} {
    if (detail::records())
      handle_ =
          ::pprof_request_begin(id, &detail::named_site(label, kind).get());
  }
  request(const request &) = delete;
  request &operator=(const request &) = delete;
  request(request &&other) noexcept : handle_(other.release()) {}
  // Ends the request that it had.
  request &operator=(request &&other) noexcept {
    if (this != &other) {
      end();
      handle_ = other.release();
    }
    return *this;
  }
  ~request() {
    end();
  }

  // end ends the request now; without one it does nothing.
  void end() noexcept {
    if (handle_.range.id) ::pprof_request_end(release());
  }
  // waited says that it had arrived so long before (pprof_request_waited).
  void waited(std::uint64_t waited_ns) const noexcept {
    ::pprof_request_waited(handle_, waited_ns);
  }
  // input says how many tokens it came with; token, that it got more.
  void input(std::uint64_t num_tokens) const noexcept {
    ::pprof_request_input(handle_, num_tokens);
  }
  void token(std::uint64_t num_tokens = 1) const noexcept {
    ::pprof_token(handle_, num_tokens);
  }

  // release gives the request away: who has the handle ends it.
  ::pprof_request release() noexcept {
    const ::pprof_request given = handle_;
    handle_ = ::pprof_request{0, {0}};
    return given;
  }
  ::pprof_request handle() const noexcept {
    return handle_;
  }
  // Whether there is a request: false also while nothing records.
  explicit operator bool() const noexcept {
    return handle_.range.id != 0;
  }

 private:
  ::pprof_request handle_;
};

// flow_context and flow_traceparent are the numbers of requests that have a
// context of 128 bits; null: the traceparent of the environment.
inline std::uint64_t flow_context(std::uint64_t high,
                                  std::uint64_t low) noexcept {
  return ::pprof_flow_context(high, low);
}
inline std::uint64_t flow_traceparent(
    const char *traceparent = nullptr) noexcept {
  return ::pprof_flow_traceparent(traceparent);
}

// serve says that the thread's innermost range serves these requests, which
// were scheduled `ago_ns` ago (pprof_serve_since).
inline void serve(const ::pprof_request *requests, std::size_t num,
                  std::uint64_t ago_ns = 0) noexcept {
  ::pprof_serve_since(requests, num, ago_ns);
}

// device_scope is a device range that ends with the block it stands in: the
// host's side lasts as long as the block, the device's until the stream has
// done what the block submitted. Nothing waits for it. `device` may be null:
// host time only. On the current CUDA device: PPROF_CUDA_SCOPE of pprof/cuda.h.
//
// Threads: the block stays on its thread (not across co_await).
// Cost:    two device events recorded in `stream`; a name as for scope.
//
// Example:
//   pprof::device_scope here(gpu, stream, "detect");
//   here.flow(frame.request);
//   enqueue(stream);
class device_scope {
 public:
  PPROF_HPP_HOLD_ device_scope(::pprof_device *device, void *stream,
                               site &where) noexcept
      : token_(detail::enter_device(device, stream, where)) {}
  PPROF_HPP_HOLD_ device_scope(::pprof_device *device, void *stream,
                               const name &label,
                               category kind = category::inference) noexcept
      : token_{{0}, nullptr} {
    if (detail::records())
      token_ = detail::enter_device(device, stream,
                                    detail::named_site(label, kind).get());
  }
  device_scope(const device_scope &) = delete;
  device_scope &operator=(const device_scope &) = delete;
  ~device_scope() {
    detail::leave_device(token_);
  }

  // flow says that the range serves `request`, work what is done in it; both
  // until it ends.
  void flow(std::uint64_t request) const noexcept {
    if (token_.range.id) ::pprof_range_flow(token_.range, request);
  }
  void work(const pprof::work &done) const noexcept {
    if (token_.range.id) ::pprof_range_work(token_.range, &done.amount());
  }

 private:
  ::pprof_device_token token_;
};

// device_range is a device range that may end on another thread and on another
// stream of its device; else it is as range.
//
// Threads: an object is used by one thread at a time.
// Cost:    two device events, one recorded at each end.
//
// Example:
//   pprof::device_range batch(gpu, stream, "batch");
//   enqueue(stream);
//   enqueue(other_stream);     // which waits for `stream`
//   batch.end(other_stream);   // when that is through
class device_range {
 public:
  // An empty one, to be moved into.
  device_range() noexcept : handle_{0}, stream_(nullptr) {}
  PPROF_HPP_HOLD_ device_range(::pprof_device *device, void *stream,
                               site &where) noexcept
      : handle_(::pprof_device_range_begin(device, stream, &where)),
        stream_(stream) {}
  PPROF_HPP_HOLD_ device_range(::pprof_device *device, void *stream,
                               const name &label,
                               category kind = category::inference) noexcept
      : handle_{0}, stream_(stream) {
    if (detail::records())
      handle_ = ::pprof_device_range_begin(
          device, stream, &detail::named_site(label, kind).get());
  }
  // Takes a range that C code began, such as pprof_cuda_range_begin, and ends
  // it on `stream` by default.
  PPROF_HPP_HOLD_ device_range(::pprof_range begun, void *stream) noexcept
      : handle_(begun), stream_(stream) {}
  device_range(const device_range &) = delete;
  device_range &operator=(const device_range &) = delete;
  device_range(device_range &&other) noexcept
      : handle_(other.release()), stream_(other.stream_) {}
  device_range &operator=(device_range &&other) noexcept {
    if (this != &other) {
      end();
      handle_ = other.release();
      stream_ = other.stream_;
    }
    return *this;
  }
  ~device_range() {
    end();
  }

  // end ends the range now, on the stream that it began on or on `stream`, a
  // stream of the same device; without a range it does nothing.
  void end() noexcept {
    end(stream_);
  }
  void end(void *stream) noexcept {
    if (handle_.id) ::pprof_device_range_end(release(), stream);
  }
  // flow says that the range serves `request`, work what is done in it; both
  // until it ends.
  void flow(std::uint64_t request) const noexcept {
    if (handle_.id) ::pprof_range_flow(handle_, request);
  }
  void work(const pprof::work &done) const noexcept {
    if (handle_.id) ::pprof_range_work(handle_, &done.amount());
  }

  // release gives the range away: who has the handle ends it, by
  // pprof_device_range_end. The object is empty then.
  ::pprof_range release() noexcept {
    const ::pprof_range given = handle_;
    handle_.id = 0;
    return given;
  }

  // handle is the range for calls of mark.h, which must not end it.
  ::pprof_range handle() const noexcept {
    return handle_;
  }

  // Whether there is a range: false also while nothing records.
  explicit operator bool() const noexcept {
    return handle_.id != 0;
  }

 private:
  ::pprof_range handle_;
  void *stream_;
};

// mark records a point in time: pprof_mark.
//
// Example:
//   pprof::mark("cache emptied");
inline void mark(site &where) noexcept {
  ::pprof_mark(&where);
}
inline void mark(const name &label,
                 category kind = category::user_defined) noexcept {
  if (detail::records()) ::pprof_mark(&detail::named_site(label, kind).get());
}

// count records the value that a counter has from now on: pprof_count.
//
// Units: the caller's.
//
// Example:
//   pprof::count("requests queued", 17);
inline void count(site &where, double value) noexcept {
  ::pprof_count(&where, value);
}
inline void count(const name &label, double value,
                  category kind = category::user_defined) noexcept {
  if (detail::records())
    ::pprof_count(&detail::named_site(label, kind).get(), value);
}

// flow says that the innermost open range of this thread, and what begins
// inside it later, serve `request`, a number but 0: pprof_flow. All ranges of a
// request have its number, on any thread and in any process; the table of
// requests is made of them.
//
// Example:
//   pprof::scope here("serve");
//   pprof::flow(frame.request);
inline void flow(std::uint64_t request) noexcept {
  ::pprof_flow(request);
}

// step ends a round of the program's main loop, in which `num_items` items were
// completed, and begins the next, for the whole process: pprof_step. Steps are
// what windows of a configuration count.
//
// Cost: takes a lock.
//
// Example:
//   serve();  // a batch of 8
//   pprof::step(8);
inline void step(std::uint64_t num_items = 1) noexcept {
  ::pprof_step(num_items);
}

// name_thread names the calling thread's row of the timeline, in 63 bytes at
// most: pprof_thread_name. A thread without one has the system's name for it.
//
// Example:
//   pprof::name_thread("decoder 3");
inline void name_thread(const name &label) noexcept {
  ::pprof_thread_name(
      detail::named_site(label, category::user_defined).get().name);
}

// name_object names what threads wait for, by its address: pprof_name_object.
//
// Example:
//   pprof::name_object(&cache_mutex, "cache");
inline void name_object(const volatile void *address,
                        const name &label) noexcept {
  ::pprof_name_object(
      address, detail::named_site(label, category::user_defined).get().name);
}

// register_category makes `label` a category, the same for each call with that
// name: pprof_category_register. Keep what it gives.
//
// Result: user_defined when there is no room for another.
// Cost:   takes a lock; not for hot code.
//
// Example:
//   static const pprof::category text = pprof::register_category("Text");
//   pprof::scope here("parse", text);
inline category register_category(const name &label) noexcept {
  return static_cast<category>(::pprof_category_register(
      detail::named_site(label, category::user_defined).get().name));
}

// session is a session with sinks of the program's own, which goes with the
// object: the destructor stops it. Programs that have a configuration use
// pprof_start (pprof/pprof.h) instead. One runs at a time. What a call answers,
// and when it fails, stands with the C call of its name in session.h.
//
// Threads: one at a time.
//
// Example:
//   pprof::session session;
//   if (session.add_sink(sink) || session.start()) return;
//   serve();
//   if (session.stop()) std::fprintf(stderr, "%s\n", session.error());
class session {
 public:
  // Null: the defaults of pprof_options.
  explicit session(const ::pprof_options *options = nullptr) noexcept
      : session_(nullptr), error_{} {
    made_ = ::pprof_session_create(options, &session_, &error_);
  }
  session(const session &) = delete;
  session &operator=(const session &) = delete;
  ~session() {
    ::pprof_session_destroy(session_);
  }

  // add_sink takes `sink` on success and destroys it with the session.
  //
  // Errors: this call and those below, of a session that could not be made: why
  //         it could not.
  ::pprof_status add_sink(::pprof_sink *sink) noexcept {
    return made_ ? made_ : ::pprof_session_add_sink(session_, sink);
  }
  // set_schedule has the session record the steps that `schedule` says.
  ::pprof_status set_schedule(const ::pprof_schedule &schedule) noexcept {
    return made_ ? made_ : ::pprof_session_set_schedule(session_, &schedule);
  }
  // on_window has `fn(uint32_t window, const pprof_report *report)` called for
  // each window; it must live until the session has stopped, and throw nothing.
  template <class F>
  ::pprof_status on_window(F &fn) noexcept {
    return made_ ? made_ : ::pprof_session_on_window(session_, tell_<F>, &fn);
  }
  // start lets markers record; a session starts once.
  ::pprof_status start() noexcept {
    return made_ ? made_ : ::pprof_session_start(session_);
  }
  // flush waits until what was recorded before the call is kept.
  ::pprof_status flush() noexcept {
    return made_ ? made_ : ::pprof_session_flush(session_);
  }
  // stop ends recording, waits for device times and finishes the sinks.
  ::pprof_status stop() noexcept {
    return made_ ? made_ : ::pprof_session_stop(session_, &error_);
  }
  // stats is what became of every marker, exact after the stop; all 0 where
  // there is no session.
  ::pprof_stats stats() const noexcept {
    ::pprof_stats stats = {};
    stats.size = sizeof stats;
    if (!made_) static_cast<void>(::pprof_session_stats(session_, &stats));
    return stats;
  }
  // error is the last error of the session or its stop; "": nothing failed.
  const char *error() const noexcept {
    return error_.text;
  }

  // get is the session for calls of session.h, which must not destroy it; null
  // where it could not be made.
  ::pprof_session *get() const noexcept {
    return session_;
  }

 private:
  template <class F>
  static void tell_(void *fn, std::uint32_t window,
                    const ::pprof_report *report) noexcept {
    (*static_cast<F *>(fn))(window, report);
  }

  ::pprof_session *session_;
  ::pprof_status made_;
  ::pprof_error error_;
};

}  // namespace enabled_ or disabled_
}  // namespace pprof

#undef PPROF_HPP_HOLD_

#endif  // PPROF_PPROF_HPP_
