// SPDX-License-Identifier: Apache-2.0
//
// mark.h with PPROF_DISABLE: the same names, no code. Arguments are
// evaluated, and what is a declaration without it is one here, so that a
// program compiles in both ways or in none. mark.h alone includes this file,
// behind its types.
#ifndef PPROF_MARK_DISABLED_H_
#define PPROF_MARK_DISABLED_H_

#include "pprof/base.h"

#if defined(PPROF_DISABLE) && defined(PPROF_MARK_H_)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

static inline uint32_t pprof_category_register(const char *name) {
  return PPROF_CATEGORY_USER_DEFINED;
}
static inline void pprof_push(pprof_site *site) {}
static inline void pprof_push_name(const char *name, uint32_t category) {}
static inline void pprof_pop(void) {}
static inline pprof_range pprof_range_begin(pprof_site *site) {
  pprof_range none = {0};
  return none;
}
static inline void pprof_range_end(pprof_range range) {}
static inline void pprof_range_flow(pprof_range range, uint64_t flow) {}
static inline void pprof_range_work(pprof_range range,
                                    const pprof_work_amount *work) {}
static inline void pprof_mark(pprof_site *site) {}
static inline void pprof_count(pprof_site *site, double value) {}
static inline void pprof_flow(uint64_t flow) {}
static inline uint64_t pprof_flow_context(uint64_t high, uint64_t low) {
  return 0;
}
static inline uint64_t pprof_flow_traceparent(const char *traceparent) {
  return 0;
}
static inline void pprof_work(const pprof_work_amount *work) {}
static inline void pprof_step(uint64_t num_items) {}
static inline pprof_request pprof_request_begin(uint64_t id, pprof_site *site) {
  pprof_request none = {0, {0}};
  return none;
}
static inline void pprof_request_input(pprof_request request,
                                       uint64_t num_tokens) {}
static inline void pprof_request_waited(pprof_request request,
                                        uint64_t waited_ns) {}
static inline void pprof_serve(const pprof_request *requests, size_t num) {}
static inline void pprof_serve_since(const pprof_request *requests, size_t num,
                                     uint64_t ago_ns) {}
static inline void pprof_token(pprof_request request, uint64_t num_tokens) {}
static inline void pprof_request_end(pprof_request request) {}
static inline void pprof_thread_name(const char *name) {}
static inline void pprof_name_object(const volatile void *address,
                                     const char *name) {}

// A declaration, as without PPROF_DISABLE: good in the same places, and it
// makes neither code nor data.
#ifdef __cplusplus
#define PPROF_NOTHING_(label) static_assert(sizeof(label) > 0, "label")
#else
#define PPROF_NOTHING_(label) _Static_assert(sizeof(label) > 0, "label")
#endif
#define PPROF_SCOPE(label) PPROF_NOTHING_(label)
#define PPROF_SCOPE_CAT(label, category) PPROF_NOTHING_(label)

#pragma GCC diagnostic pop

#endif  // PPROF_DISABLE, from mark.h

#endif  // PPROF_MARK_DISABLED_H_
