// SPDX-License-Identifier: Apache-2.0
//
// Calls as no program should make them: misuse SCENARIO. None may crash; what
// they leave in the log stands in misuse_test.py.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "program.h"

// More pops than pushes, on each stack, before and after a range.
static void unbalanced(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("unbalanced");
  for (int i = 0; i < 3; i++) say("pop", nvtxRangePop());
  for (int i = 0; i < 2; i++) say("pop", nvtxDomainRangePop(domain));
  say("push", nvtxRangePushA("whole"));
  say("pop", nvtxDomainRangePop(domain));
  say("pop", nvtxRangePop());
  say("pop", nvtxRangePop());
  say("push", nvtxRangePushA("never popped"));
}

// More levels than are kept: the balance holds.
static void deep(void) {
  enum { LEVELS = 3000 };
  int wrong = 0;
  for (int i = 0; i < LEVELS; i++) wrong += nvtxRangePushA("level") != i;
  for (int i = LEVELS - 1; i >= 0; i--) wrong += nvtxRangePop() != i;
  say("wrong levels", wrong);
  say("push", nvtxRangePushA("after"));
  say("pop", nvtxRangePop());
}

static void unknown_ids(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("ids");
  nvtxRangeEnd(0);
  nvtxRangeEnd(1);
  nvtxRangeEnd(UINT64_MAX);
  nvtxDomainRangeEnd(domain, 0x1234567890abcdef);
  nvtxRangeId_t id = nvtxRangeStartA("ended twice");
  nvtxRangeEnd(id);
  nvtxRangeEnd(id);
  // The domain of an end means nothing.
  id = nvtxRangeStartA("ended in a domain");
  nvtxDomainRangeEnd(domain, id);
  nvtxRangeStartA("never ended");
  nvtxRangeEndPayload(domain, 77, NULL, 0);
}

// Addresses that were never handles: of nothing, of data, of a neighbour.
static void foreign_handles(void) {
  static uint64_t data[64];
  void *const wrong[] = {(void *)(uintptr_t)8, (void *)(uintptr_t)0xdeadbeef000,
                         data, (char *)data + 3, (void *)(uintptr_t)-1};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    nvtxDomainHandle_t domain = (nvtxDomainHandle_t)wrong[i];
    nvtxEventAttributes_t event = event_of_string((nvtxStringHandle_t)wrong[i]);
    nvtxMarkEx(&event);
    mark_in(domain, "in no domain");
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
    nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &event));
    nvtxDomainNameCategoryA(domain, 3, "none");
    nvtxDomainRegisterStringA(domain, "a string of no domain");
    nvtxDomainResourceDestroy((nvtxResourceHandle_t)wrong[i]);
    nvtxDomainSyncUserAcquireStart((nvtxSyncUser_t)wrong[i]);
    nvtxDomainSyncUserDestroy((nvtxSyncUser_t)wrong[i]);
    nvtxCounterSampleInt64(domain, 99, 1);
    nvtxDomainIsEnabled(domain);
    nvtxDomainDestroy(domain);
  }
  // A string is no domain, and a domain is no string.
  nvtxDomainHandle_t domain = nvtxDomainCreateA("of kinds");
  nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "a string");
  nvtxEventAttributes_t event = event_of_string((nvtxStringHandle_t)domain);
  nvtxMarkEx(&event);
  mark_in((nvtxDomainHandle_t)string, "in a string");
  mark_in(domain, "after all");
}

static void freed_domains(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("freed");
  nvtxStringHandle_t string =
      nvtxDomainRegisterStringA(domain, "of a freed one");
  push_in(domain, "open when freed");
  nvtxDomainDestroy(domain);
  nvtxDomainDestroy(domain);
  say("push", push_in(domain, "pushed after") >= 0);
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(domain);
  nvtxEventAttributes_t event = event_of_string(string);
  nvtxMarkEx(&event);
  // The same name again is the same domain.
  domain = nvtxDomainCreateA("freed");
  mark_in(domain, "created again");
}

static void other_domains_string(void) {
  nvtxDomainHandle_t one = nvtxDomainCreateA("one");
  nvtxDomainHandle_t two = nvtxDomainCreateA("two");
  nvtxEventAttributes_t event =
      event_of_string(nvtxDomainRegisterStringA(one, "string of one"));
  nvtxDomainMarkEx(two, &event);
  nvtxMarkEx(&event);
}

static char *long_text(size_t len) {
  char *text = malloc(len + 1);
  if (!text) exit(3);
  memset(text, 'n', len);
  text[len] = 0;
  return text;
}

// A megabyte of name in each place that takes one.
static void long_names(void) {
  enum { LEN = 1 << 20 };
  char *text = long_text(LEN);
  wchar_t *wide = malloc((LEN + 1) * sizeof *wide);
  if (!wide) exit(3);
  for (int i = 0; i < LEN; i++) wide[i] = 0x1f600;
  wide[LEN] = 0;
  say("push", nvtxRangePushA(text));
  say("push", nvtxRangePushW(wide));
  say("pop", nvtxRangePop());
  say("pop", nvtxRangePop());
  nvtxDomainHandle_t domain = nvtxDomainCreateA(text);
  mark_in(domain, "in a long domain");
  nvtxEventAttributes_t event =
      event_of_string(nvtxDomainRegisterStringA(domain, text));
  nvtxDomainMarkEx(domain, &event);
  nvtxNameCategoryA(5, text);
  event = event_of("in a long category");
  event.category = 5;
  nvtxMarkEx(&event);
  nvtxNameOsThreadW((uint32_t)gettid(), wide);
  free(wide);
  free(text);
}

// Bytes that are no text: nothing of it may reach a terminal or break a file.
static void control_characters(void) {
  static const wchar_t odd[] = {L'w',        0xd800, 0x110000, 0x7fffffff,
                                (wchar_t)-1, 7,      L'w',     0};
  nvtxMarkA("bell \a escape \033[31m line\nfeed tab\t");
  nvtxMarkA("not utf-8 \xff\xfe\xc3( \xed\xa0\x80");
  nvtxMarkA("\"quoted\" <b>&amp;\\");
  nvtxMarkW(odd);
  nvtxMarkA("");
  nvtxMarkW(L"");
}

// Structures and texts that are missing, short, or of another version.
static void attributes(void) {
  nvtxEventAttributes_t event = event_of("version 2");
  nvtxMarkEx(NULL);
  say("push", nvtxRangePushEx(NULL));
  say("pop", nvtxRangePop());
  nvtxRangeEnd(nvtxRangeStartEx(NULL));
  nvtxMarkA(NULL);
  nvtxMarkW(NULL);
  say("push", nvtxRangePushA(NULL));
  say("pop", nvtxRangePop());
  event.version = 2;
  nvtxMarkEx(&event);
  // Ends before the message: a name that must not be followed.
  event = event_of((const char *)(uintptr_t)16);
  event.size = 24;
  nvtxMarkEx(&event);
  event.size = 0;
  nvtxMarkEx(&event);
  event = event_of(NULL);
  nvtxMarkEx(&event);
  event.messageType = 99;
  event.message.ascii = (const char *)(uintptr_t)16;
  nvtxMarkEx(&event);
  event = event_of("larger than we know");
  event.size = 4096;
  nvtxMarkEx(&event);
  event = event_of("odd types");
  event.colorType = 77;
  event.payloadType = 77;
  event.category = UINT32_MAX;
  nvtxMarkEx(&event);
  nvtxDomainCreateA(NULL);
  nvtxDomainCreateW(NULL);
  nvtxDomainRegisterStringA(NULL, NULL);
  nvtxNameCategoryA(1, NULL);
  nvtxNameOsThreadA(1, NULL);
  nvtxDomainResourceCreate(NULL, NULL);
  nvtxDomainSyncUserCreate(NULL, NULL);
}

static void payloads(void) {
  uint64_t bytes[2] = {1, 2};
  nvtxPayloadData_t data[2] = {{0x7777777, sizeof bytes, bytes},
                               {(uint64_t)9 << 40, SIZE_MAX, bytes}};
  nvtxEventAttributes_t event = event_of_payload("unknown schema", data, 2);
  nvtxMarkEx(&event);
  event = event_of_payload("no data", NULL, 1);
  nvtxMarkEx(&event);
  event = event_of_payload("less than none", data, -1);
  nvtxMarkEx(&event);
  data[0].payload = NULL;
  event = event_of_payload("null blob", data, 1);
  nvtxMarkEx(&event);
  nvtxPayloadSchemaRegister(NULL, NULL);
  nvtxPayloadEnumRegister(NULL, NULL);
  nvtxPayloadSchemaAttr_t schema;
  memset(&schema, 0, sizeof schema);
  nvtxPayloadSchemaRegister(NULL, &schema);
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.numEntries = 1000;
  nvtxPayloadSchemaRegister(NULL, &schema);
  nvtxMarkPayload(NULL, NULL, 3);
  say("push", nvtxRangePushPayload(NULL, data, 0) >= -1);
  nvtxRangePopPayload(NULL, NULL, 5);
  nvtxCounterRegister(NULL, NULL);
  nvtxCounterSample(NULL, 5, NULL, 8);
  nvtxCounterSampleInt64(NULL, 123456, 1);
  nvtxCounterBatchSubmit(NULL, NULL);
  nvtxMarkA("after payloads");
}

enum { NUM_SIGNALS = 200, MAX_ROUNDS = 30000 };
static long num_signals;

static void on_signal(int number) {
  (void)number;
  nvtxRangePushA("in a handler");
  nvtxMarkA("mark in a handler");
  nvtxRangePop();
  nvtxRangeEnd(nvtxRangeStartA("start in a handler"));
  __atomic_fetch_add(&num_signals, 1, __ATOMIC_RELAXED);
}

static void *signalled(void *argument) {
  long *made = argument;
  nvtxDomainHandle_t domain = nvtxDomainCreateA("signalled");
  while (__atomic_load_n(&num_signals, __ATOMIC_RELAXED) < NUM_SIGNALS) {
    char name[24];
    if (*made == MAX_ROUNDS) {
      sched_yield();
      continue;
    }
    snprintf(name, sizeof name, "range %ld", *made % 100);
    nvtxRangePushA(name);
    push_in(domain, "inner");
    nvtxDomainRangePop(domain);
    nvtxRangeEnd(nvtxRangeStartA("start"));
    nvtxRangePop();
    ++*made;
  }
  return NULL;
}

// A timer's handler that marks, on threads that mark.
static void signals(void) {
  const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  struct sigaction action;
  long made[2] = {0, 0};
  pthread_t thread;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  // A handler that interrupts NVTX's own search for a tool waits for ever.
  nvtxMarkA("before");
  sigaction(SIGALRM, &action, NULL);
  if (pthread_create(&thread, NULL, signalled, &made[0])) exit(3);
  setitimer(ITIMER_REAL, &often, NULL);
  signalled(&made[1]);
  setitimer(ITIMER_REAL, &never, NULL);
  pthread_join(thread, NULL);
  say("made", made[0] + made[1]);
  say("signals", num_signals);
}

// A first call of all in a signal handler.
static void first_in_signal(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  nvtxMarkA("after the handler");
}

// More names than are kept apart.
static void many_names(void) {
  char name[32];
  for (int i = 0; i < 70000; i++) {
    snprintf(name, sizeof name, "name %d", i);
    nvtxMarkA(name);
  }
}

// More domains and strings than anyone needs.
static void many_domains(void) {
  char name[32];
  for (int i = 0; i < 5000; i++) {
    snprintf(name, sizeof name, "domain %d", i);
    nvtxDomainHandle_t domain = nvtxDomainCreateA(name);
    nvtxEventAttributes_t event =
        event_of_string(nvtxDomainRegisterStringA(domain, name));
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
    if (i % 2) nvtxDomainDestroy(domain);
  }
}

static const struct scenario {
  const char *name;
  void (*run)(void);
} scenarios[] = {
    {"unbalanced", unbalanced},
    {"deep", deep},
    {"unknown_ids", unknown_ids},
    {"foreign_handles", foreign_handles},
    {"freed_domains", freed_domains},
    {"other_domains_string", other_domains_string},
    {"long_names", long_names},
    {"control_characters", control_characters},
    {"attributes", attributes},
    {"payloads", payloads},
    {"signals", signals},
    {"first_in_signal", first_in_signal},
    {"many_names", many_names},
    {"many_domains", many_domains},
};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
    if (strcmp(argv[1], scenarios[i].name) == 0) {
      scenarios[i].run();
      return 0;
    }
  return 2;
}
