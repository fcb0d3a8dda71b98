// SPDX-License-Identifier: Apache-2.0
//
// Turns a call into a marker, inline for each handler. On the program's
// threads; attributes are read up to their stated size.
#pragma once

#include "objects.h"
#include "settings.h"

// A call without a name.
#define PPI_NVTX_NO_NAME "<unnamed>"

#define PPI_NVTX_HAS(attributes, field) \
  ((attributes)->size >=                \
   offsetof(nvtx_attributes, field) + sizeof((attributes)->field))

#define PPI_NVTX_INLINE static inline __attribute__((always_inline))

// event.c: the rare cases. Results like those of a push, a mark or a start.
int64_t ppi_nvtx_bad_domain(ppi_nvtx_kind kind);
int64_t ppi_nvtx_wide(ppi_nvtx_kind kind, ppi_nvtx_domain *domain,
                      const nvtx_attributes *attributes, const wchar_t *name);
int64_t ppi_nvtx_emit_more(ppi_nvtx_kind kind, ppi_nvtx_domain *domain,
                           const nvtx_attributes *attributes,
                           const ppi_nvtx_event *event);
bool ppi_nvtx_resolve(ppi_nvtx_domain *domain, uint32_t id,
                      uint32_t *out_category);

PPI_NVTX_INLINE int64_t ppi_nvtx_nothing(ppi_nvtx_kind kind) {
  return kind == PPI_NVTX_PUSH ? PPROF_INJECT_NO_TOOL_ : 0;
}

PPI_NVTX_INLINE uint64_t ppi_nvtx_color(const nvtx_attributes *attributes) {
  uint64_t rgb = attributes->color & 0xffffffu;
  return attributes->color_type == NVTX_COLOR_ARGB ? rgb << 32 : 0;
}

// The category of an event with NVTX category `id`, where it is known in this
// epoch; else false.
PPI_NVTX_INLINE bool ppi_nvtx_known_category(const ppi_nvtx_domain *domain,
                                             uint32_t id,
                                             uint32_t *out_category) {
  uint32_t epoch = __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED);
  uint64_t plain = __atomic_load_n(&domain->category, __ATOMIC_RELAXED) - 1;
  *out_category = (uint32_t)plain;
  if (PPI_UNLIKELY(plain >> 32 != epoch)) return false;
  if (PPI_LIKELY(id == 0)) return true;
  uint64_t recent = __atomic_load_n(&domain->recent[id % 4], __ATOMIC_RELAXED);
  *out_category = (uint32_t)(recent >> 16) & 0xffffu;
  return recent >> 32 == id && (uint16_t)recent == (uint16_t)epoch;
}

// The event without its name; false while nothing records.
PPI_NVTX_INLINE bool ppi_nvtx_begin(ppi_nvtx_domain *domain,
                                    const nvtx_attributes *attributes,
                                    ppi_nvtx_event *out) {
  bool has_id = attributes && PPI_NVTX_HAS(attributes, category);
  uint32_t id = has_id ? attributes->category : 0;
  uint32_t category;
  if (PPI_UNLIKELY(!ppi_nvtx_known_category(domain, id, &category)) &&
      !ppi_nvtx_resolve(domain, id, &category))
    return false;
  out->site = NULL;
  out->name = PPI_NVTX_NO_NAME;
  out->style = category;
  if (attributes && PPI_NVTX_HAS(attributes, color))
    out->style |= ppi_nvtx_color(attributes);
  return true;
}

// A push ends in the marker's own code, so that a handler needs no frame. What
// is passed on by address is a copy: the event itself stays in registers.
PPI_NVTX_INLINE int64_t ppi_nvtx_emit(ppi_nvtx_kind kind,
                                      ppi_nvtx_domain *domain,
                                      const nvtx_attributes *attributes,
                                      ppi_nvtx_event event) {
  bool has_number = attributes && PPI_NVTX_HAS(attributes, payload) &&
                    attributes->payload_type != 0;
  if (PPI_UNLIKELY(has_number ||
                   __atomic_load_n(&ppi_nvtx_extras, __ATOMIC_RELAXED))) {
    const ppi_nvtx_event copy = event;
    return ppi_nvtx_emit_more(kind, domain, attributes, &copy);
  }
  if (kind == PPI_NVTX_PUSH)
    return pprof_inject_push_(domain->number, event.site, event.name,
                              event.style);
  if (kind == PPI_NVTX_START)
    return (int64_t)pprof_inject_begin_(domain->number, event.site, event.name,
                                        event.style)
        .id;
  pprof_inject_mark_(domain->number, event.site, event.name, event.style);
  return 0;
}

PPI_NVTX_INLINE int64_t ppi_nvtx_ascii(ppi_nvtx_kind kind,
                                       ppi_nvtx_domain *domain,
                                       const nvtx_attributes *attributes,
                                       const char *name) {
  ppi_nvtx_event event;
  if (PPI_UNLIKELY(!ppi_nvtx_begin(domain, attributes, &event)))
    return ppi_nvtx_nothing(kind);
  if (PPI_LIKELY(name != NULL))
    event.name = name;
  else
    pprof_inject_bad_();
  return ppi_nvtx_emit(kind, domain, attributes, event);
}

// Handles the usual push: complete attributes without a number, and nothing to
// do but record. False: the push is another one.
PPI_NVTX_INLINE bool ppi_nvtx_is_plain(const ppi_nvtx_domain *domain,
                                       const nvtx_attributes *attributes) {
  return PPI_LIKELY(domain && attributes &&
                    attributes->size >= sizeof *attributes &&
                    !((uint32_t)attributes->payload_type |
                      __atomic_load_n(&ppi_nvtx_extras, __ATOMIC_RELAXED)));
}

// False: the push needs the full check.
PPI_NVTX_INLINE bool ppi_nvtx_plain_label(ppi_nvtx_domain *domain,
                                          const nvtx_attributes *attributes,
                                          ppi_nvtx_event *out) {
  uint32_t category;
  if (PPI_UNLIKELY(
          !ppi_nvtx_known_category(domain, attributes->category, &category)))
    return false;
  out->style = category | ppi_nvtx_color(attributes);
  out->site = NULL;
  out->name = attributes->message.ascii;
  if (attributes->message_type == NVTX_MESSAGE_ASCII) return out->name != NULL;
  ppi_nvtx_string *string =
      attributes->message_type == NVTX_MESSAGE_REGISTERED
          ? ppi_nvtx_string_of(attributes->message.registered)
          : NULL;
  if (PPI_UNLIKELY(!string || string->domain != domain)) return false;
  const ppi_nvtx_site *first =
      __atomic_load_n(&string->sites, __ATOMIC_ACQUIRE);
  if (PPI_UNLIKELY(!first || ppi_nvtx_site_style(first) != out->style))
    return false;
  out->site = (pprof_site *)&first->site;
  return true;
}

PPI_NVTX_INLINE int64_t ppi_nvtx_registered(ppi_nvtx_kind kind,
                                            ppi_nvtx_domain *domain,
                                            const nvtx_attributes *attributes) {
  ppi_nvtx_event event;
  if (PPI_UNLIKELY(!ppi_nvtx_begin(domain, attributes, &event)))
    return ppi_nvtx_nothing(kind);
  ppi_nvtx_string *string = ppi_nvtx_string_of(attributes->message.registered);
  // A string of another domain is accepted, because its text is known.
  if (PPI_UNLIKELY(!string || string->domain != domain)) pprof_inject_bad_();
  if (PPI_LIKELY(string != NULL)) {
    event.site = ppi_nvtx_string_site(string, event.style);
    event.name = string->text;
  }
  return ppi_nvtx_emit(kind, domain, attributes, event);
}

PPI_NVTX_INLINE int64_t ppi_nvtx_described(ppi_nvtx_kind kind,
                                           ppi_nvtx_domain *domain,
                                           const nvtx_attributes *attributes) {
  ppi_nvtx_event event;
  if (PPI_UNLIKELY(!domain)) return ppi_nvtx_bad_domain(kind);
  if (PPI_UNLIKELY(!attributes))
    return ppi_nvtx_ascii(kind, domain, NULL, NULL);
  if (PPI_LIKELY(PPI_NVTX_HAS(attributes, message))) {
    int32_t type = attributes->message_type;
    if (type == NVTX_MESSAGE_REGISTERED)
      return ppi_nvtx_registered(kind, domain, attributes);
    if (PPI_LIKELY(type == NVTX_MESSAGE_ASCII))
      return ppi_nvtx_ascii(kind, domain, attributes,
                            attributes->message.ascii);
    if (type == NVTX_MESSAGE_WIDE)
      return ppi_nvtx_wide(kind, domain, attributes, attributes->message.wide);
  }
  if (!ppi_nvtx_begin(domain, attributes, &event))
    return ppi_nvtx_nothing(kind);
  return ppi_nvtx_emit(kind, domain, attributes, event);
}

// event.c: ppi_nvtx_described of any push.
int ppi_nvtx_push_any(ppi_nvtx_domain *domain,
                      const nvtx_attributes *attributes);

PPI_NVTX_INLINE int ppi_nvtx_push(ppi_nvtx_domain *domain,
                                  const nvtx_attributes *attributes) {
  ppi_nvtx_event event;
  if (!ppi_nvtx_is_plain(domain, attributes) ||
      !ppi_nvtx_plain_label(domain, attributes, &event))
    return ppi_nvtx_push_any(domain, attributes);
  return pprof_inject_push_(domain->number, event.site, event.name,
                            event.style);
}

PPI_NVTX_INLINE int ppi_nvtx_pop(const ppi_nvtx_domain *domain) {
  if (PPI_UNLIKELY(!domain)) return (int)ppi_nvtx_bad_domain(PPI_NVTX_PUSH);
  return pprof_inject_pop_(domain->number);
}
