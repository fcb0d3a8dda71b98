// SPDX-License-Identifier: Apache-2.0
//
// Passes calls on to a second tool, which PPROF_NVTX_CHAIN names. That tool
// fills shadow slots, as if they were a program's; our handlers call the
// functions in these slots.
#include "chain.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NUM_EXTENSIONS 8u
#define NUM_RANGES 16384u
#define NUM_IDS 1024u

nvtx_function ppi_nvtx_shadow[NVTX_NUM_MODULES][NVTX_MAX_CALLS];

// A range that both tools know. `state` is 0 when free, else a use's number.
typedef struct pair {
  uint64_t state;  // atomic
  uint64_t ours, theirs;
} pair;

typedef struct id_pair {
  uint64_t ours;  // atomic, published last
  uint64_t theirs;
} id_pair;

static struct {
  uint32_t load_begun;
  int (*init)(nvtx_get_export_table);
  int (*extension_init)(nvtx_extension *);
  nvtx_function *tables[NVTX_NUM_MODULES][NVTX_MAX_CALLS];
  intptr_t extension_slots[NUM_EXTENSIONS][NVTX_MAX_EXTENSION_CALLS];
  uint32_t extension_begun[NUM_EXTENSIONS];
  uint32_t num_ids;  // atomic
  id_pair ids[NUM_IDS];
  uint64_t last_range;
  pair ranges[NUM_RANGES];
} next;

static int get_module_table(uint32_t module, nvtx_function ***out_table,
                            unsigned *out_num) {
  static const unsigned sizes[NVTX_NUM_MODULES] = {0, 16, 9, 15, 7, 16, 7};
  if (module == 0 || module >= NVTX_NUM_MODULES) return 0;
  for (unsigned i = 1; i < sizes[module]; i++)
    next.tables[module][i] = &ppi_nvtx_shadow[module][i];
  if (out_table) *out_table = next.tables[module];
  if (out_num) *out_num = sizes[module];
  return 1;
}

static void set_tool_version(uint32_t version) {
  (void)version;
}

static const void *get_export_table(uint32_t id) {
  static const nvtx_callbacks callbacks = {sizeof callbacks, get_module_table};
  static const nvtx_version_info version = {sizeof version, 3, 0,
                                            set_tool_version};
  if (id == NVTX_TABLE_CALLBACKS) return &callbacks;
  return id == NVTX_TABLE_VERSION ? &version : NULL;
}

extern int InitializeInjectionNvtx2(nvtx_get_export_table get);

void ppi_nvtx_chain_load(void) {
  if (__atomic_exchange_n(&next.load_begun, 1, __ATOMIC_ACQ_REL)) return;
  const char *path = secure_getenv("PPROF_NVTX_CHAIN");
  if (!path || !*path) return;
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return;
  int (*init)(nvtx_get_export_table);
  void *found = dlsym(library, "InitializeInjectionNvtx2");
  memcpy(&init, &found, sizeof init);
  if (!init || init == InitializeInjectionNvtx2 || !init(get_export_table)) {
    dlclose(library);
    return;
  }
  next.init = init;
  found = dlsym(library, "InitializeInjectionNvtxExtension");
  memcpy(&next.extension_init, &found, sizeof found);
  // Pairs with ppi_nvtx_next: the slots have the functions that init wrote.
  __atomic_fetch_or(&ppi_nvtx_extras, PPI_NVTX_CHAINED, __ATOMIC_RELEASE);
}

int ppi_nvtx_chain_unit(nvtx_get_export_table get) {
  return ppi_nvtx_is_chained() ? next.init(get) : 0;
}

// Asks the next tool, once for each extension; then lends its functions to the
// slots that ours leave empty.
int ppi_nvtx_chain_extension(nvtx_extension *extension) {
  uint32_t module = extension->module;
  if (!ppi_nvtx_is_chained() || !next.extension_init ||
      module >= NUM_EXTENSIONS || extension->num_segments != 1)
    return 0;
  nvtx_segment *theirs = &extension->segments[0];
  intptr_t *shadow = next.extension_slots[module];
  if (!__atomic_exchange_n(&next.extension_begun[module], 1,
                           __ATOMIC_ACQ_REL)) {
    nvtx_segment segment = {theirs->id, NVTX_MAX_EXTENSION_CALLS, shadow};
    nvtx_extension copy = *extension;
    copy.segments = &segment;
    next.extension_init(&copy);
  }
  for (size_t i = 0; i < theirs->num_slots && i < NVTX_MAX_EXTENSION_CALLS; i++)
    if (theirs->slots[i] == NVTX_SLOT_FRESH && shadow[i] != NVTX_SLOT_DISABLED)
      __atomic_store_n(&theirs->slots[i], shadow[i], __ATOMIC_RELEASE);
  return 1;
}

nvtx_function ppi_nvtx_next_extension(uint32_t module, uint32_t call) {
  intptr_t slot =
      __atomic_load_n(&next.extension_slots[module][call], __ATOMIC_ACQUIRE);
  return slot == NVTX_SLOT_FRESH || slot == NVTX_SLOT_DISABLED
             ? NULL
             : (nvtx_function)slot;
}

void ppi_nvtx_remember_id(uint64_t ours, uint64_t theirs) {
  uint32_t at = __atomic_fetch_add(&next.num_ids, 1, __ATOMIC_RELAXED);
  if (ours < PPI_PAYLOAD_DYNAMIC_ID_FIRST || at >= NUM_IDS) return;
  next.ids[at].theirs = theirs;
  __atomic_store_n(&next.ids[at].ours, ours, __ATOMIC_RELEASE);
}

uint64_t ppi_nvtx_next_id(uint64_t ours) {
  uint32_t num = __atomic_load_n(&next.num_ids, __ATOMIC_ACQUIRE);
  if (ours < PPI_PAYLOAD_DYNAMIC_ID_FIRST) return ours;
  for (uint32_t i = 0; i < num && i < NUM_IDS; i++)
    if (__atomic_load_n(&next.ids[i].ours, __ATOMIC_ACQUIRE) == ours)
      return next.ids[i].theirs;
  return ours;
}

const ppi_payload_blob *ppi_nvtx_translate_payloads(
    const ppi_payload_blob *payloads, size_t num, ppi_nvtx_payload_copy *copy) {
  if (!payloads || num > sizeof copy->blobs / sizeof *copy->blobs)
    return payloads;
  for (size_t i = 0; i < num; i++) {
    copy->blobs[i] = payloads[i];
    copy->blobs[i].schema_id = ppi_nvtx_next_id(payloads[i].schema_id);
  }
  return copy->blobs;
}

const ppi_payload_schema_attributes *ppi_nvtx_translate_schema(
    const ppi_payload_schema_attributes *attributes,
    ppi_nvtx_schema_copy *copy) {
  const uint64_t needed =
      PPI_PAYLOAD_SCHEMA_FIELD_ENTRIES | PPI_PAYLOAD_SCHEMA_FIELD_NUM_ENTRIES;
  if (!attributes || (attributes->fields & needed) != needed ||
      !attributes->entries ||
      attributes->num_entries > sizeof copy->entries / sizeof *copy->entries)
    return attributes;
  copy->attributes = *attributes;
  copy->attributes.entries = copy->entries;
  for (size_t i = 0; i < attributes->num_entries; i++) {
    copy->entries[i] = attributes->entries[i];
    copy->entries[i].type = ppi_nvtx_next_id(attributes->entries[i].type);
  }
  return &copy->attributes;
}

// An event for the next tool: with that tool's handles and ids.
typedef struct translated {
  nvtx_attributes attributes;
  ppi_nvtx_payload_copy payloads;
} translated;

static const nvtx_attributes *translate(const nvtx_attributes *attributes,
                                        translated *copy) {
  if (!attributes || attributes->size < sizeof *attributes) return attributes;
  bool has_string = attributes->message_type == NVTX_MESSAGE_REGISTERED;
  bool has_payloads = attributes->payload_type == NVTX_PAYLOAD_SCHEMA &&
                      attributes->payload_num > 0;
  if (!has_string && !has_payloads) return attributes;
  copy->attributes = *attributes;
  copy->attributes.size = sizeof copy->attributes;
  if (has_string) {
    const ppi_nvtx_string *string =
        ppi_nvtx_string_of(attributes->message.registered);
    copy->attributes.message.registered = string ? string->next : NULL;
  }
  if (has_payloads)
    copy->attributes.payload.pointer = ppi_nvtx_translate_payloads(
        attributes->payload.pointer, (size_t)attributes->payload_num,
        &copy->payloads);
  return &copy->attributes;
}

uint64_t ppi_nvtx_pass_event(nvtx_function function,
                             const ppi_nvtx_domain *domain,
                             const nvtx_attributes *attributes) {
  translated copy;
  attributes = translate(attributes, &copy);
  if (!domain)
    return ((uint64_t(*)(const nvtx_attributes *))function)(attributes);
  return ((uint64_t(*)(void *, const nvtx_attributes *))function)(domain->next,
                                                                  attributes);
}

// id = 1 << 63 | use. The use's number gives its place; if that is taken, the
// next ones are tried.
#define JOINED (UINT64_C(1) << 63)

uint64_t ppi_nvtx_join_ids(uint64_t ours, uint64_t theirs) {
  for (uint32_t i = 0; i < NUM_RANGES; i++) {
    uint64_t use =
        __atomic_add_fetch(&next.last_range, 1, __ATOMIC_RELAXED) | JOINED;
    pair *place = &next.ranges[use % NUM_RANGES];
    uint64_t nobody = 0;
    // 1 while it is being filled: no id is that small.
    if (!__atomic_compare_exchange_n(&place->state, &nobody, 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    place->ours = ours;
    place->theirs = theirs;
    __atomic_store_n(&place->state, use, __ATOMIC_RELEASE);
    return use;
  }
  return ours;  // the next tool's range stays open
}

uint64_t ppi_nvtx_split(uint64_t id, uint64_t *out_theirs) {
  pair *place = &next.ranges[id % NUM_RANGES];
  uint64_t use = id;
  if (!(id & JOINED) ||
      !__atomic_compare_exchange_n(&place->state, &use, 1, false,
                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return id;
  uint64_t ours = place->ours;
  *out_theirs = place->theirs;
  __atomic_store_n(&place->state, 0, __ATOMIC_RELEASE);
  return ours;
}
