// SPDX-License-Identifier: Apache-2.0
//
// Handles the rarer parts of events: wide names, unknown handles, numbers,
// device time.
#include "event.h"

#include "device.h"
#include "process.h"
#include "text.h"
#include "values.h"

// No stack belongs to that handle.
int64_t ppi_nvtx_bad_domain(ppi_nvtx_kind kind) {
  if (__atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED) == 0)
    return ppi_nvtx_nothing(kind);
  pprof_inject_bad_();
  return kind == PPI_NVTX_PUSH ? PPROF_INJECT_BAD_ : 0;
}

bool ppi_nvtx_resolve(ppi_nvtx_domain *domain, uint32_t id,
                      uint32_t *out_category) {
  uint32_t epoch = __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED);
  if (epoch == 0) {
    if (!ppi_nvtx_revive()) return false;
    epoch = __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED);
  }
  *out_category = ppi_nvtx_category_resolve(domain, id, epoch);
  return true;
}

int64_t ppi_nvtx_wide(ppi_nvtx_kind kind, ppi_nvtx_domain *domain,
                      const nvtx_attributes *attributes, const wchar_t *name) {
  char text[PPI_NVTX_MAX_TEXT + 8];
  ppi_nvtx_event event;
  if (!ppi_nvtx_begin(domain, attributes, &event))
    return ppi_nvtx_nothing(kind);
  if (name)
    event.name = ppi_nvtx_utf8(name, text, sizeof text);
  else
    pprof_inject_bad_();
  return ppi_nvtx_emit_more(kind, domain, attributes, &event);
}

int64_t ppi_nvtx_emit_more(ppi_nvtx_kind kind, ppi_nvtx_domain *domain,
                           const nvtx_attributes *attributes,
                           const ppi_nvtx_event *event) {
  uint64_t style = event->style;
  uint32_t number = domain->number;
  ppi_nvtx_target target = {kind, domain, event, {0}};
  int level = 0;
  if (kind == PPI_NVTX_PUSH) {
    level = pprof_inject_push_(number, event->site, event->name, style);
    if (level < 0) return level;
    if (__atomic_load_n(&ppi_nvtx_extras, __ATOMIC_RELAXED) & PPI_NVTX_TIMED)
      ppi_nvtx_device_push(number, level);
  } else if (kind == PPI_NVTX_START) {
    target.range = pprof_inject_begin_(number, event->site, event->name, style);
    if (!target.range.id) return 0;
  } else {
    pprof_inject_mark_(number, event->site, event->name, style);
  }
  if (attributes && PPI_NVTX_HAS(attributes, payload) &&
      attributes->payload_type != 0)
    ppi_nvtx_use_attributes(&target, attributes);
  return kind == PPI_NVTX_START ? (int64_t)target.range.id : level;
}

int ppi_nvtx_push_any(ppi_nvtx_domain *domain,
                      const nvtx_attributes *attributes) {
  return (int)ppi_nvtx_described(PPI_NVTX_PUSH, domain, attributes);
}
