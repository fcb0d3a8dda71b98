// SPDX-License-Identifier: Apache-2.0
//
// Reports ranges, marks and counters to an NVTX tool as they happen, in the
// domain "pprof". Runs on the marking threads; the collector ends the
// cross-thread ranges that an edge cuts.
#include "mark/emit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "../nvtx/abi.h"
#include "mark/site_id.h"

// The tool's function for a call; NULL: none.
typedef struct ppi_nvtx_tool {
  void *(*domain_create)(const char *name);
  void *(*register_string)(void *domain, const char *text);
  void (*name_category)(void *domain, uint32_t category, const char *name);
  void (*mark)(void *domain, const nvtx_attributes *attributes);
  uint64_t (*start)(void *domain, const nvtx_attributes *attributes);
  void (*end)(void *domain, uint64_t range);
  int (*push)(void *domain, const nvtx_attributes *attributes);
  int (*pop)(void *domain);
} ppi_nvtx_tool;

static nvtx_function slots[NVTX_NUM_MODULES][NVTX_MAX_CALLS];
static ppi_nvtx_tool attached;
static bool is_attached;

static int get_module_table(uint32_t module, nvtx_function ***out_table,
                            unsigned *out_num) {
  static const unsigned sizes[NVTX_NUM_MODULES] = {0, 16, 9, 15, 7, 16, 7};
  static nvtx_function *tables[NVTX_NUM_MODULES][NVTX_MAX_CALLS];
  if (module == 0 || module >= NVTX_NUM_MODULES) return 0;
  for (unsigned i = 1; i < sizes[module]; i++)
    tables[module][i] = &slots[module][i];
  if (out_table) *out_table = tables[module];
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
  if (id == NVTX_TABLE_VERSION) return &version;
  return id == NVTX_TABLE_PPROF ? &callbacks : NULL;
}

// A slot has the type of its field.
static void take(void *field, unsigned call) {
  memcpy(field, &slots[NVTX_MODULE_CORE2][call], sizeof(nvtx_function));
}

static void take_all(void) {
  take(&attached.domain_create, NVTX_CORE2_DOMAIN_CREATE_A);
  take(&attached.register_string, NVTX_CORE2_REGISTER_STRING_A);
  take(&attached.name_category, NVTX_CORE2_NAME_CATEGORY_A);
  take(&attached.mark, NVTX_CORE2_MARK);
  take(&attached.start, NVTX_CORE2_START);
  take(&attached.end, NVTX_CORE2_END);
  take(&attached.push, NVTX_CORE2_PUSH);
  take(&attached.pop, NVTX_CORE2_POP);
}

// A push without a pop, or the reverse, would unbalance the tool's stacks.
static void drop_halves(void) {
  if (!attached.push || !attached.pop) {
    attached.push = NULL;
    attached.pop = NULL;
  }
  if (!attached.start || !attached.end) {
    attached.start = NULL;
    attached.end = NULL;
  }
}

static bool load_library(const char *path) {
  int (*initialize)(nvtx_get_export_table);
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return false;
  void *found = dlsym(library, "InitializeInjectionNvtx2");
  memcpy(&initialize, &found, sizeof initialize);
  memset(slots, 0, sizeof slots);
  if (initialize && initialize(get_export_table)) return true;
  dlclose(library);
  return false;
}

static bool load(const char *path) {
  unsigned standing = ppi_fd_stand_in();
  bool loaded = load_library(path);
  ppi_fd_stand_down(standing);
  return loaded;
}

// find_tool answers the tool that NVTX_INJECTION64_PATH names; NULL: no tool,
// or it declines. A loaded tool stays. One thread at a time.
static const ppi_nvtx_tool *find_tool(void) {
  if (is_attached) return &attached;
  // A setuid program loads no tool for its caller. A program without a loader
  // cannot load one.
  const char *path = secure_getenv("NVTX_INJECTION64_PATH");
  if (!path || !*path || getauxval(AT_BASE) == 0 || !load(path)) return NULL;
  take_all();
  drop_halves();
  is_attached = true;
  return &attached;
}

#define NUM_RANGES ((size_t)PPI_MAX_TABLES * PPI_TABLE_SLOTS)
#define NUM_STRINGS ((size_t)PPI_MAX_SITES + 2)
#define NUM_CATEGORIES (PPROF_CATEGORY_FIRST_REGISTERED + PPI_MAX_CATEGORIES)

// Both arrays share one mapping; the kernel makes its pages at first use.
typedef struct emitted {
  void *strings[NUM_STRINGS];  // by site: the tool's, NO_STRING, NULL: not yet
  uint64_t ranges[NUM_RANGES];
} emitted;

static struct {
  const ppi_nvtx_tool *tool;
  void *domain;
  emitted *session;
  bool wanted;
  uint64_t step;  // the tool's number of the open one
  uint64_t categories[NUM_CATEGORIES / 64];
} emit;

#define NO_STRING ((void *)&emit)

void ppi_emit_want(bool wanted) {
  emit.wanted = wanted;
  if (!wanted || emit.tool) return;
  emit.tool = find_tool();
  if (emit.tool && emit.tool->domain_create)
    emit.domain = emit.tool->domain_create("pprof");
}

// Private and anonymous: dropped pages are zeroes again.
static bool make_room(void) {
  if (emit.session)
    return madvise(emit.session, sizeof *emit.session, MADV_DONTNEED) == 0;
  void *memory = mmap(NULL, sizeof *emit.session, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  emit.session = memory;
  return true;
}

// A later session without a configuration emits nothing.
uint32_t ppi_emit_begin(void) {
  bool emits = emit.wanted && emit.tool && make_room();
  emit.wanted = false;
  emit.step = 0;
  return emits ? PPI_SITE_EMITS : 0;
}

void ppi_emit_finish(void) {
  if (!ppi_recorder_in_force.emits) return;
  for (uint32_t i = 0; i < NUM_RANGES; i++)
    if (emit.session->ranges[i])
      ppi_emit_end(i / PPI_TABLE_SLOTS, i % PPI_TABLE_SLOTS);
  if (ppi_thread_self) ppi_emit_leave(ppi_thread_self);
}

// Only the parent ends its open ranges.
void ppi_emit_in_forked_child(void) {
  emit.wanted = false;
  ppi_recorder_in_force.emits = 0;
}

static void name_category(uint32_t category) {
  uint64_t bit = 1ull << category % 64;
  if (!emit.tool->name_category || category >= NUM_CATEGORIES ||
      __atomic_fetch_or(&emit.categories[category / 64], bit,
                        __ATOMIC_RELAXED) &
          bit)
    return;
  emit.tool->name_category(emit.domain, category + 1,
                           ppi_category_name(category));
}

// Two threads may both be first; the tool then has the text twice.
static void *first_use(const ppi_definition_record *record, uint32_t site) {
  void *string = NULL;
  name_category(record->parent);
  if (emit.tool->register_string)
    string = emit.tool->register_string(emit.domain, record->name);
  if (!string) string = NO_STRING;
  __atomic_store_n(&emit.session->strings[site], string, __ATOMIC_RELEASE);
  return string;
}

void ppi_emit_forget(uint32_t site) {
  if (ppi_recorder_in_force.emits)
    __atomic_store_n(&emit.session->strings[site], NULL, __ATOMIC_RELAXED);
}

static nvtx_attributes describe(uint32_t site) {
  const ppi_definition_record *record =
      ppi_names_site_record(ppi_recorder_in_force.names, site);
  void *string =
      __atomic_load_n(&emit.session->strings[site], __ATOMIC_ACQUIRE);
  if (!string) string = first_use(record, site);
  nvtx_attributes attributes = {.version = 3,
                                .size = sizeof attributes,
                                // 0 is no category.
                                .category = record->parent + 1,
                                .message_type = NVTX_MESSAGE_REGISTERED,
                                .message.registered = string};
  if (string == NO_STRING) {
    attributes.message_type = NVTX_MESSAGE_ASCII;
    attributes.message.ascii = record->name;
  }
  if (record->color) {
    attributes.color_type = NVTX_COLOR_ARGB;
    attributes.color = 0xff000000u | record->color;
  }
  return attributes;
}

// `number` 0: no payload.
static nvtx_attributes describe_with(uint32_t site, uint64_t number) {
  nvtx_attributes attributes = describe(site);
  if (number) {
    attributes.payload_type = NVTX_PAYLOAD_U64;
    attributes.payload.u64 = number;
  }
  return attributes;
}

uint8_t ppi_emit_push(const ppi_lane *lane, uint32_t site, uint64_t flow) {
  ppi_thread *thread = ppi_thread_self;
  if (!emit.tool->push) return 0;
  ppi_emit_settle(lane->stack_epoch);
  nvtx_attributes attributes = describe_with(site, flow);
  emit.tool->push(emit.domain, &attributes);
  thread->num_emitted++;
  thread->emitted_epoch = lane->stack_epoch;
  return PPI_FRAME_EMITTED;
}

static void pop(ppi_thread *thread, uint32_t num) {
  for (; num && thread->num_emitted; num--) {
    thread->num_emitted--;
    emit.tool->pop(emit.domain);
  }
}

void ppi_emit_pop(uint32_t num) {
  pop(ppi_thread_self, num);
}

void ppi_emit_settle(uint32_t epoch) {
  ppi_thread *thread = ppi_thread_self;
  if (thread->num_emitted && thread->emitted_epoch != epoch)
    ppi_emit_leave(thread);
}

void ppi_emit_leave(ppi_thread *thread) {
  pop(thread, thread->num_emitted);
}

void ppi_emit_point(uint32_t site, uint64_t flow, const double *value) {
  if (!emit.tool->mark) return;
  nvtx_attributes attributes = describe_with(site, flow);
  if (value) {
    attributes.payload_type = NVTX_PAYLOAD_DOUBLE;
    attributes.payload.f64 = *value;
  }
  emit.tool->mark(emit.domain, &attributes);
}

uint64_t ppi_emit_start(uint32_t site, uint64_t flow) {
  if (!emit.tool->start) return 0;
  nvtx_attributes attributes = describe_with(site, flow);
  return emit.tool->start(emit.domain, &attributes);
}

static void end(uint64_t range) {
  if (range) emit.tool->end(emit.domain, range);
}

static uint64_t put(uint32_t table, uint32_t index, uint64_t range) {
  size_t at = (size_t)table * PPI_TABLE_SLOTS + index;
  return __atomic_exchange_n(&emit.session->ranges[at], range,
                             __ATOMIC_ACQ_REL);
}

// The slot's last range may have been cut before it was kept.
void ppi_emit_keep(uint32_t table, uint32_t index, uint64_t range) {
  end(put(table, index, range));
}

void ppi_emit_end(uint32_t table, uint32_t index) {
  end(put(table, index, 0));
}

void ppi_emit_step(uint32_t site, uint64_t number, bool opens) {
  end(emit.step);
  emit.step = 0;
  if (!opens || !emit.tool->start) return;
  nvtx_attributes attributes = describe_with(site, number);
  emit.step = emit.tool->start(emit.domain, &attributes);
}
