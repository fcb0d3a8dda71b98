// SPDX-License-Identifier: Apache-2.0
//
// What the test programs share: attributes as a careful program fills them, and
// lines that say what a call answered.
#pragma once

#include <stdio.h>
#include <string.h>

#include "nvtx.h"

static inline nvtxEventAttributes_t event_of(const char *name) {
  nvtxEventAttributes_t event;
  memset(&event, 0, sizeof event);
  event.version = NVTX_VERSION;
  event.size = sizeof event;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  return event;
}

static inline nvtxEventAttributes_t event_of_string(nvtxStringHandle_t string) {
  nvtxEventAttributes_t event = event_of(NULL);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = string;
  return event;
}

static inline nvtxEventAttributes_t event_of_payload(
    const char *name, const nvtxPayloadData_t *data, int num) {
  nvtxEventAttributes_t event = event_of(name);
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = num;
  event.payload.ullValue = (uint64_t)(uintptr_t)data;
  return event;
}

static inline int push_in(nvtxDomainHandle_t domain, const char *name) {
  nvtxEventAttributes_t event = event_of(name);
  return nvtxDomainRangePushEx(domain, &event);
}

static inline void mark_in(nvtxDomainHandle_t domain, const char *name) {
  nvtxEventAttributes_t event = event_of(name);
  nvtxDomainMarkEx(domain, &event);
}

static inline void say(const char *what, long value) {
  printf("%s %ld\n", what, value);
  fflush(stdout);
}
