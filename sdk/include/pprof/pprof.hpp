// SPDX-License-Identifier: Apache-2.0
//
// The markers for C++11 and up: objects that end what they began, also when an
// exception passes. Header only, over mark.h and device.h, whose promises hold;
// it throws nothing and needs neither exceptions nor RTTI. PPROF_DISABLE
// compiles it to nothing, as it does the calls below it.
//
//   PPROF_SITE(decode, "decode", PPROF_CATEGORY_PREPROCESS);
//   { pprof::scope here(decode); ... }             // a named place: cheapest
//   { pprof::scope here(layer.name()); ... }       // a name known at run time
//   pprof::range upload("upload", pprof::category::memcpy);
//   queue.push([range = std::move(upload)]() mutable { ...; range.end(); });
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

// Of a constructor: an object that nobody holds ends at once what it began.
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

// Files with PPROF_DISABLE and without may be parts of one program.
#ifdef PPROF_DISABLE
inline namespace disabled_ {
#else
inline namespace enabled_ {
#endif

// A site is made with PPROF_SITE.
using site = ::pprof_site;

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
  memset = PPROF_CATEGORY_MEMSET
};

// A name as a call is given it: a parameter, not something to keep.
class name {
 public:
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
  // SIZE_MAX: it ends with a zero.
  std::size_t size() const noexcept {
    return size_;
  }

 private:
  const char *text_;
  std::size_t size_;
};

// Amounts of work, to be given to a range; device ranges and those that wander
// take it by their own work():
//   pprof::work().items(8).flops(2e9).add();
class work {
 public:
  work() noexcept : amount_{sizeof(::pprof_work_amount), 0, 0, 0, 0} {}

  work &items(double items) noexcept {
    amount_.items = items;
    return *this;
  }
  work &bytes(double bytes) noexcept {
    amount_.bytes = bytes;
    return *this;
  }
  work &flops(double flops) noexcept {
    amount_.flops = flops;
    return *this;
  }
  work &params(double params) noexcept {
    amount_.params = params;
    return *this;
  }

  // add gives it to the innermost open range of this thread.
  void add() const noexcept {
    ::pprof_work(&amount_);
  }

  const ::pprof_work_amount &amount() const noexcept {
    return amount_;
  }

 private:
  ::pprof_work_amount amount_;
};

namespace detail {

#ifdef PPROF_DISABLE

inline bool records() noexcept {
  return false;
}
inline ::pprof_scope_token enter(site &) noexcept {
  return ::pprof_scope_token{nullptr, 0, 0};
}
inline void leave(const ::pprof_scope_token &) noexcept {}
inline ::pprof_device_token enter_device(::pprof_device *, void *,
                                         site &) noexcept {
  return ::pprof_device_token{{0}, nullptr};
}
inline void leave_device(const ::pprof_device_token &) noexcept {}

#else

inline bool records() noexcept {
  return __atomic_load_n(&::pprof_epoch_, __ATOMIC_RELAXED) != 0;
}
inline ::pprof_scope_token enter(site &where) noexcept {
  return ::pprof_scope_enter_(&where);
}
inline void leave(const ::pprof_scope_token &token) noexcept {
  ::pprof_scope_exit_(&token);
}
inline ::pprof_device_token enter_device(::pprof_device *device, void *stream,
                                         site &where) noexcept {
  return ::pprof_device_scope_enter_(device, stream, &where);
}
inline void leave_device(const ::pprof_device_token &token) noexcept {
  ::pprof_device_scope_exit_(&token);
}

#endif

// A site for one call, which is as long as the library looks at it.
class named_site {
 public:
  named_site(const name &label, category kind) noexcept
      : site_{"", static_cast<std::uint32_t>(kind), 0, 0, {0, 0}} {
    site_.name = label.size() == SIZE_MAX ? label.text() : copy(label);
  }
  named_site(const named_site &) = delete;
  named_site &operator=(const named_site &) = delete;

  site &get() noexcept {
    return site_;
  }

 private:
  // No half UTF-8 character where it is cut.
  const char *copy(const name &label) noexcept {
    std::size_t size = label.size();
    if (size >= sizeof text_) {
      size = sizeof text_ - 1;
      while (size > sizeof text_ - 4 && (label.text()[size] & 0xc0) == 0x80)
        size--;
    }
    if (size) std::memcpy(text_, label.text(), size);
    text_[size] = 0;
    return text_;
  }

  site site_;
  char text_[512];
};

}  // namespace detail

// A range that ends with the block it stands in. It closes what it opened and
// no more; ranges left open inside it end with it, marked abandoned.
//
// Threads: the block stays on its thread (not across co_await).
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

// A range that may end on another thread: whoever has the object has the range.
// It takes no part in the thread's nesting.
//
// Threads: an object is used by one thread at a time; flow and work of its
//          handle come from any.
class range {
 public:
  range() noexcept : handle_{0} {}
  PPROF_HPP_HOLD_ explicit range(site &where) noexcept
      : handle_(::pprof_range_begin(&where)) {}
  PPROF_HPP_HOLD_ explicit range(
      const name &label, category kind = category::user_defined) noexcept
      : handle_{0} {
    if (detail::records())
      handle_ = ::pprof_range_begin(&detail::named_site(label, kind).get());
  }
  // Takes a range that C code began.
  PPROF_HPP_HOLD_ explicit range(::pprof_range begun) noexcept
      : handle_(begun) {}
  range(const range &) = delete;
  range &operator=(const range &) = delete;
  range(range &&other) noexcept : handle_(other.release()) {}
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
  void flow(std::uint64_t request) const noexcept {
    if (handle_.id) ::pprof_range_flow(handle_, request);
  }
  void work(const pprof::work &done) const noexcept {
    if (handle_.id) ::pprof_range_work(handle_, &done.amount());
  }

  // release gives the range away: who has the handle ends it.
  ::pprof_range release() noexcept {
    const ::pprof_range given = handle_;
    handle_.id = 0;
    return given;
  }
  ::pprof_range handle() const noexcept {
    return handle_;
  }
  // False also while nothing records.
  explicit operator bool() const noexcept {
    return handle_.id != 0;
  }

 private:
  ::pprof_range handle_;
};

// A device range that ends with the block it stands in. `device` may be null:
// host time only. On the current CUDA device: PPROF_CUDA_SCOPE of pprof/cuda.h.
//
// Cost: two device events recorded in `stream`.
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

  void flow(std::uint64_t request) const noexcept {
    if (token_.range.id) ::pprof_range_flow(token_.range, request);
  }
  void work(const pprof::work &done) const noexcept {
    if (token_.range.id) ::pprof_range_work(token_.range, &done.amount());
  }

 private:
  ::pprof_device_token token_;
};

// A device range that may end on another thread and on another stream of its
// device.
//
// Cost: two device events, one recorded at each end.
class device_range {
 public:
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
  // Takes a range that C code began, such as pprof_cuda_range_begin.
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

  // end ends the range on the stream that it began on, or on `stream`.
  void end() noexcept {
    end(stream_);
  }
  void end(void *stream) noexcept {
    if (handle_.id) ::pprof_device_range_end(release(), stream);
  }
  void flow(std::uint64_t request) const noexcept {
    if (handle_.id) ::pprof_range_flow(handle_, request);
  }
  void work(const pprof::work &done) const noexcept {
    if (handle_.id) ::pprof_range_work(handle_, &done.amount());
  }

  // release gives the range away: who has the handle ends it.
  ::pprof_range release() noexcept {
    const ::pprof_range given = handle_;
    handle_.id = 0;
    return given;
  }
  ::pprof_range handle() const noexcept {
    return handle_;
  }
  explicit operator bool() const noexcept {
    return handle_.id != 0;
  }

 private:
  ::pprof_range handle_;
  void *stream_;
};

// mark records a point in time, count a value: pprof_mark, pprof_count.
inline void mark(site &where) noexcept {
  ::pprof_mark(&where);
}
inline void mark(const name &label,
                 category kind = category::user_defined) noexcept {
  if (detail::records()) ::pprof_mark(&detail::named_site(label, kind).get());
}
inline void count(site &where, double value) noexcept {
  ::pprof_count(&where, value);
}
inline void count(const name &label, double value,
                  category kind = category::user_defined) noexcept {
  if (detail::records())
    ::pprof_count(&detail::named_site(label, kind).get(), value);
}

// flow, step, name_thread are pprof_flow, pprof_step, pprof_thread_name.
inline void flow(std::uint64_t request) noexcept {
  ::pprof_flow(request);
}
inline void step(std::uint64_t num_items = 1) noexcept {
  ::pprof_step(num_items);
}
inline void name_thread(const name &label) noexcept {
  ::pprof_thread_name(
      detail::named_site(label, category::user_defined).get().name);
}

// register_category is pprof_category_register.
inline category register_category(const name &label) noexcept {
  return static_cast<category>(::pprof_category_register(
      detail::named_site(label, category::user_defined).get().name));
}

// A session with sinks of the program's own, which goes with the object.
// Programs that have a configuration use pprof_start (pprof/pprof.h) instead.
//
// Threads: one at a time.
class session {
 public:
  explicit session(const ::pprof_options *options = nullptr) noexcept
      : session_(nullptr), error_{} {
    made_ = ::pprof_session_create(options, &session_, &error_);
  }
  session(const session &) = delete;
  session &operator=(const session &) = delete;
  ~session() {
    ::pprof_session_destroy(session_);
  }

  // One that could not be made answers why to every call.
  ::pprof_status add_sink(::pprof_sink *sink) noexcept {
    return made_ ? made_ : ::pprof_session_add_sink(session_, sink);
  }
  ::pprof_status start() noexcept {
    return made_ ? made_ : ::pprof_session_start(session_);
  }
  ::pprof_status flush() noexcept {
    return made_ ? made_ : ::pprof_session_flush(session_);
  }
  ::pprof_status stop() noexcept {
    return made_ ? made_ : ::pprof_session_stop(session_, &error_);
  }
  ::pprof_stats stats() const noexcept {
    ::pprof_stats stats = {};
    stats.size = sizeof stats;
    if (!made_) static_cast<void>(::pprof_session_stats(session_, &stats));
    return stats;
  }
  // error is what the session or its stop said last; "" when nothing failed.
  const char *error() const noexcept {
    return error_.text;
  }
  ::pprof_session *get() const noexcept {
    return session_;
  }

 private:
  ::pprof_session *session_;
  ::pprof_status made_;
  ::pprof_error error_;
};

}  // namespace enabled_ or disabled_
}  // namespace pprof

#undef PPROF_HPP_HOLD_

#endif  // PPROF_PPROF_HPP_
