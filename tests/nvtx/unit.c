// SPDX-License-Identifier: Apache-2.0
//
// One linkage unit, compiled several times with another UNIT: its name, one
// word of five letters. With CONSTRUCTOR it calls NVTX as it is loaded, with
// DESTRUCTOR as it leaves; TLS_BYTES of thread-local memory it takes from what
// the loader keeps for libraries that come late.
#include "program.h"

#define EXPORT __attribute__((visibility("default")))
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define NAME TEXT(UNIT)

EXPORT int unit_push(void);
EXPORT int unit_pop(void);
EXPORT void unit_mark(int num);
EXPORT const void *unit_text(void);

#ifdef TLS_BYTES
static __thread volatile char block[TLS_BYTES]
    __attribute__((tls_model("initial-exec")));
#endif

static const char mark_text[] = NAME " mark";

static nvtxDomainHandle_t shared(void) {
  static nvtxDomainHandle_t domain;
  if (!domain) domain = nvtxDomainCreateA("shared");
  return domain;
}

int unit_push(void) {
  return push_in(shared(), NAME " range");
}

int unit_pop(void) {
  return nvtxDomainRangePop(shared());
}

void unit_mark(int num) {
#ifdef TLS_BYTES
  block[0]++;
#endif
  for (int i = 0; i < num; i++) nvtxMarkA(mark_text);
}

const void *unit_text(void) {
  return mark_text;
}

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void loaded(void) {
  nvtxMarkA(NAME " constructor");
}
#endif

#ifdef DESTRUCTOR
__attribute__((destructor)) static void left(void) {
  nvtxRangePushA(NAME " destructor");
  nvtxRangePop();
  nvtxMarkA(NAME " destructor mark");
  nvtxRangeEnd(nvtxRangeStartA(NAME " destructor start"));
}
#endif
