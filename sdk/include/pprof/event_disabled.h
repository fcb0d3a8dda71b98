// SPDX-License-Identifier: Apache-2.0
//
// event.h with PPROF_DISABLE: what sinks ask, of objects that nobody hands out.
// event.h alone includes this file, behind its types.
#ifndef PPROF_EVENT_DISABLED_H_
#define PPROF_EVENT_DISABLED_H_

#include "pprof/base.h"

#if defined(PPROF_DISABLE) && defined(PPROF_EVENT_H_)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

static inline const char *pprof_run_info_text(const pprof_run_info *info,
                                              const char *key) {
  return PPROF_NULL_;
}
static inline pprof_definition_kind pprof_definition_get_kind(
    const pprof_definition *definition) {
  return PPROF_DEFINITION_SITE;
}
static inline uint32_t pprof_definition_id(const pprof_definition *definition) {
  return 0;
}
static inline const char *pprof_definition_name(
    const pprof_definition *definition) {
  return "";
}
static inline uint32_t pprof_definition_parent(
    const pprof_definition *definition) {
  return 0;
}
static inline uint32_t pprof_definition_color(
    const pprof_definition *definition) {
  return 0;
}
static inline uint64_t pprof_definition_number(
    const pprof_definition *definition) {
  return 0;
}
static inline uint64_t pprof_checkpoint_time_ns(
    const pprof_checkpoint *checkpoint) {
  return 0;
}
static inline size_t pprof_checkpoint_num_open(
    const pprof_checkpoint *checkpoint) {
  return 0;
}
static inline void pprof_checkpoint_open(const pprof_checkpoint *checkpoint,
                                         size_t i, pprof_event *out) {}
static inline uint64_t pprof_totals_value(const pprof_totals *totals,
                                          uint32_t lane, const char *key) {
  return 0;
}

#pragma GCC diagnostic pop

#endif  // PPROF_DISABLE, from event.h

#endif  // PPROF_EVENT_DISABLED_H_
