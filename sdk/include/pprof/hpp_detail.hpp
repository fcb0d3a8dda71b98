// SPDX-License-Identifier: Apache-2.0
//
// How the objects of pprof.hpp reach the C calls, with PPROF_DISABLE and
// without. pprof.hpp alone includes this file, behind its types; nothing in it
// is for programs.
#ifndef PPROF_HPP_DETAIL_HPP_
#define PPROF_HPP_DETAIL_HPP_

#ifdef PPROF_PPROF_HPP_

namespace pprof {
#ifdef PPROF_DISABLE
inline namespace disabled_ {
#else
inline namespace enabled_ {
#endif
namespace detail {

inline bool records() noexcept {
  return PPROF_RECORDS_();
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

// A site for one call, which is as long as the library looks at it.
class named_site {
 public:
  named_site(const name &label, category kind) noexcept
      : site_{
            "", static_cast<std::uint32_t>(kind), 0, 0, {PPROF_SITE_ONCE_, 0}} {
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
}  // namespace enabled_ or disabled_
}  // namespace pprof

#endif  // PPROF_PPROF_HPP_

#endif  // PPROF_HPP_DETAIL_HPP_
