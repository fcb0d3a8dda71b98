// SPDX-License-Identifier: Apache-2.0
//
// NVTX's calls, each through the slot of its number.
#pragma once

#include "client.h"

#define CLIENT_VOID_(slot, name, params, args) \
  static inline void name params {             \
    client_function found = slot;              \
    if (found) ((void(*) params)found) args;   \
  }
#define CLIENT_VALUE_(slot, type, none, name, params, args) \
  static inline type name params {                          \
    client_function found = slot;                           \
    return found ? ((type(*) params)found)args : none;      \
  }
#define VOID_CALL(module, index, name, params, args) \
  CLIENT_VOID_(client_slot(CLIENT_##module, index), name, params, args)
#define CALL(module, index, type, none, name, params, args)                    \
  CLIENT_VALUE_(client_slot(CLIENT_##module, index), type, none, name, params, \
                args)
#define VOID_EXTENSION(module, index, name, params, args)                   \
  CLIENT_VOID_(client_extension_slot(CLIENT_##module, index), name, params, \
               args)
#define EXTENSION(module, index, type, none, name, params, args)           \
  CLIENT_VALUE_(client_extension_slot(CLIENT_##module, index), type, none, \
                name, params, args)
// A name for something, in both character types.
#define NAME_CALLS(module, index, name, type)                               \
  VOID_CALL(module, index, name##A, (type what, const char *text),          \
            (what, text))                                                   \
  VOID_CALL(module, (index) + 1, name##W, (type what, const wchar_t *text), \
            (what, text))

typedef const nvtxEventAttributes_t *client_event;

VOID_CALL(CORE, 1, nvtxMarkEx, (client_event event), (event))
VOID_CALL(CORE, 2, nvtxMarkA, (const char *text), (text))
VOID_CALL(CORE, 3, nvtxMarkW, (const wchar_t *text), (text))
CALL(CORE, 4, nvtxRangeId_t, 0, nvtxRangeStartEx, (client_event event), (event))
CALL(CORE, 5, nvtxRangeId_t, 0, nvtxRangeStartA, (const char *text), (text))
CALL(CORE, 6, nvtxRangeId_t, 0, nvtxRangeStartW, (const wchar_t *text), (text))
VOID_CALL(CORE, 7, nvtxRangeEnd, (nvtxRangeId_t id), (id))
CALL(CORE, 8, int, -2, nvtxRangePushEx, (client_event event), (event))
CALL(CORE, 9, int, -2, nvtxRangePushA, (const char *text), (text))
CALL(CORE, 10, int, -2, nvtxRangePushW, (const wchar_t *text), (text))
CALL(CORE, 11, int, -2, nvtxRangePop, (void), ())
NAME_CALLS(CORE, 12, nvtxNameCategory, uint32_t)
NAME_CALLS(CORE, 14, nvtxNameOsThread, uint32_t)

VOID_CALL(CORE2, 1, nvtxDomainMarkEx,
          (nvtxDomainHandle_t domain, client_event event), (domain, event))
CALL(CORE2, 2, nvtxRangeId_t, 0, nvtxDomainRangeStartEx,
     (nvtxDomainHandle_t domain, client_event event), (domain, event))
VOID_CALL(CORE2, 3, nvtxDomainRangeEnd,
          (nvtxDomainHandle_t domain, nvtxRangeId_t id), (domain, id))
CALL(CORE2, 4, int, -2, nvtxDomainRangePushEx,
     (nvtxDomainHandle_t domain, client_event event), (domain, event))
CALL(CORE2, 5, int, -2, nvtxDomainRangePop, (nvtxDomainHandle_t domain),
     (domain))
CALL(CORE2, 6, nvtxResourceHandle_t, NULL, nvtxDomainResourceCreate,
     (nvtxDomainHandle_t domain, nvtxResourceAttributes_t *attributes),
     (domain, attributes))
VOID_CALL(CORE2, 7, nvtxDomainResourceDestroy, (nvtxResourceHandle_t resource),
          (resource))
VOID_CALL(CORE2, 8, nvtxDomainNameCategoryA,
          (nvtxDomainHandle_t domain, uint32_t category, const char *text),
          (domain, category, text))
VOID_CALL(CORE2, 9, nvtxDomainNameCategoryW,
          (nvtxDomainHandle_t domain, uint32_t category, const wchar_t *text),
          (domain, category, text))
CALL(CORE2, 10, nvtxStringHandle_t, NULL, nvtxDomainRegisterStringA,
     (nvtxDomainHandle_t domain, const char *text), (domain, text))
CALL(CORE2, 11, nvtxStringHandle_t, NULL, nvtxDomainRegisterStringW,
     (nvtxDomainHandle_t domain, const wchar_t *text), (domain, text))
CALL(CORE2, 12, nvtxDomainHandle_t, NULL, nvtxDomainCreateA, (const char *name),
     (name))
CALL(CORE2, 13, nvtxDomainHandle_t, NULL, nvtxDomainCreateW,
     (const wchar_t *name), (name))
VOID_CALL(CORE2, 14, nvtxDomainDestroy, (nvtxDomainHandle_t domain), (domain))
VOID_CALL(CORE2, 15, nvtxInitialize, (const void *reserved), (reserved))

NAME_CALLS(CUDA, 1, nvtxNameCuDevice, int)
NAME_CALLS(CUDA, 3, nvtxNameCuContext, void *)
NAME_CALLS(CUDA, 5, nvtxNameCuStream, void *)
NAME_CALLS(CUDA, 7, nvtxNameCuEvent, void *)
NAME_CALLS(CUDART, 1, nvtxNameCudaDevice, int)
NAME_CALLS(CUDART, 3, nvtxNameCudaStream, void *)
NAME_CALLS(CUDART, 5, nvtxNameCudaEvent, void *)
NAME_CALLS(OPENCL, 1, nvtxNameClDevice, void *)
NAME_CALLS(OPENCL, 3, nvtxNameClContext, void *)
NAME_CALLS(OPENCL, 5, nvtxNameClCommandQueue, void *)
NAME_CALLS(OPENCL, 7, nvtxNameClMemObject, void *)
NAME_CALLS(OPENCL, 9, nvtxNameClSampler, void *)
NAME_CALLS(OPENCL, 11, nvtxNameClProgram, void *)
NAME_CALLS(OPENCL, 13, nvtxNameClEvent, void *)

CALL(SYNC, 1, nvtxSyncUser_t, NULL, nvtxDomainSyncUserCreate,
     (nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t *attributes),
     (domain, attributes))
VOID_CALL(SYNC, 2, nvtxDomainSyncUserDestroy, (nvtxSyncUser_t user), (user))
VOID_CALL(SYNC, 3, nvtxDomainSyncUserAcquireStart, (nvtxSyncUser_t user),
          (user))
VOID_CALL(SYNC, 4, nvtxDomainSyncUserAcquireFailed, (nvtxSyncUser_t user),
          (user))
VOID_CALL(SYNC, 5, nvtxDomainSyncUserAcquireSuccess, (nvtxSyncUser_t user),
          (user))
VOID_CALL(SYNC, 6, nvtxDomainSyncUserReleasing, (nvtxSyncUser_t user), (user))

EXTENSION(PAYLOAD, 0, uint64_t, 0, nvtxPayloadSchemaRegister,
          (nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t *schema),
          (domain, schema))
EXTENSION(PAYLOAD, 1, uint64_t, 0, nvtxPayloadEnumRegister,
          (nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t *values),
          (domain, values))
VOID_EXTENSION(PAYLOAD, 2, nvtxMarkPayload,
               (nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
                size_t num),
               (domain, data, num))
EXTENSION(PAYLOAD, 3, int, -2, nvtxRangePushPayload,
          (nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
           size_t num),
          (domain, data, num))
EXTENSION(PAYLOAD, 4, int, -2, nvtxRangePopPayload,
          (nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
           size_t num),
          (domain, data, num))
EXTENSION(PAYLOAD, 5, nvtxRangeId_t, 0, nvtxRangeStartPayload,
          (nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
           size_t num),
          (domain, data, num))
VOID_EXTENSION(PAYLOAD, 6, nvtxRangeEndPayload,
               (nvtxDomainHandle_t domain, nvtxRangeId_t id,
                const nvtxPayloadData_t *data, size_t num),
               (domain, id, data, num))
// Enabled when there is a tool that does not speak of it.
EXTENSION(PAYLOAD, 7, uint8_t, client_slot(CLIENT_CORE, 1) != NULL,
          nvtxDomainIsEnabled, (nvtxDomainHandle_t domain), (domain))
EXTENSION(PAYLOAD, 8, int64_t, 0, nvtxTimestampGet, (void), ())
EXTENSION(PAYLOAD, 9, uint64_t, 0, nvtxTimeDomainRegister,
          (nvtxDomainHandle_t domain, const nvtxTimeDomainAttr_t *attributes),
          (domain, attributes))
VOID_EXTENSION(PAYLOAD, 10, nvtxTimerSource,
               (nvtxDomainHandle_t domain, uint64_t id, uint64_t flags,
                int64_t (*now)(void)),
               (domain, id, flags, now))
VOID_EXTENSION(PAYLOAD, 11, nvtxTimerSourceWithData,
               (nvtxDomainHandle_t domain, uint64_t id, uint64_t flags,
                int64_t (*now)(void *data), void *data),
               (domain, id, flags, now, data))
EXTENSION(PAYLOAD, 12, uint64_t, 0, nvtxScopeRegister,
          (nvtxDomainHandle_t domain, const nvtxScopeAttr_t *attributes),
          (domain, attributes))
VOID_EXTENSION(PAYLOAD, 13, nvtxTimeSyncPoint,
               (nvtxDomainHandle_t domain, uint64_t id1, uint64_t id2,
                int64_t time1, int64_t time2),
               (domain, id1, id2, time1, time2))
VOID_EXTENSION(PAYLOAD, 14, nvtxTimeSyncPointTable,
               (nvtxDomainHandle_t domain, uint64_t from, uint64_t to,
                const nvtxSyncPoint_t *points, size_t num),
               (domain, from, to, points, num))
VOID_EXTENSION(PAYLOAD, 15, nvtxTimestampConversionFactor,
               (nvtxDomainHandle_t domain, uint64_t from, uint64_t to,
                double slope, int64_t time1, int64_t time2),
               (domain, from, to, slope, time1, time2))
VOID_EXTENSION(PAYLOAD, 16, nvtxEventSubmit,
               (nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
                size_t num),
               (domain, data, num))
VOID_EXTENSION(PAYLOAD, 17, nvtxEventBatchSubmit,
               (nvtxDomainHandle_t domain, const nvtxEventBatch_t *batch),
               (domain, batch))

EXTENSION(COUNTERS, 0, uint64_t, 0, nvtxCounterRegister,
          (nvtxDomainHandle_t domain, const nvtxCounterAttr_t *attributes),
          (domain, attributes))
VOID_EXTENSION(COUNTERS, 1, nvtxCounterSampleInt64,
               (nvtxDomainHandle_t domain, uint64_t id, int64_t value),
               (domain, id, value))
VOID_EXTENSION(COUNTERS, 2, nvtxCounterSampleFloat64,
               (nvtxDomainHandle_t domain, uint64_t id, double value),
               (domain, id, value))
VOID_EXTENSION(COUNTERS, 3, nvtxCounterSample,
               (nvtxDomainHandle_t domain, uint64_t id, const void *values,
                size_t size),
               (domain, id, values, size))
VOID_EXTENSION(COUNTERS, 4, nvtxCounterSampleNoValue,
               (nvtxDomainHandle_t domain, uint64_t id, uint8_t reason),
               (domain, id, reason))
VOID_EXTENSION(COUNTERS, 5, nvtxCounterBatchSubmit,
               (nvtxDomainHandle_t domain, const nvtxCounterBatch_t *batch),
               (domain, batch))

#undef VOID_CALL
#undef CALL
#undef VOID_EXTENSION
#undef EXTENSION
#undef NAME_CALLS
