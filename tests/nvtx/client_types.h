// SPDX-License-Identifier: Apache-2.0
//
// What a program that calls NVTX sees of its types, in our own words and under
// the names of the CUDA toolkit's headers, so that one source compiles with
// either. LP64 only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION 3

typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;
typedef struct nvtxSyncUser *nvtxSyncUser_t;
typedef uint64_t nvtxRangeId_t;

enum {
  NVTX_COLOR_UNKNOWN = 0,
  NVTX_COLOR_ARGB = 1,
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3,
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6,
  // Class in the upper half, number in the lower one.
  NVTX_RESOURCE_TYPE_GENERIC_POINTER = 1 << 16 | 1,
  NVTX_RESOURCE_TYPE_GENERIC_HANDLE = 1 << 16 | 2,
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = 1 << 16 | 3,
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = 1 << 16 | 4,
  NVTX_RESOURCE_TYPE_CUDA_DEVICE = 4 << 16 | 1,
  NVTX_RESOURCE_TYPE_CUDA_STREAM = 4 << 16 | 3,
  NVTX_RESOURCE_TYPE_CUDART_STREAM = 5 << 16 | 1,
};

typedef union nvtxMessageValue_t {
  const char *ascii;
  const wchar_t *unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_t {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

typedef struct nvtxResourceAttributes_t {
  uint16_t version, size;
  int32_t identifierType;
  union {
    const void *pIdentifier;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxResourceAttributes_t;

typedef struct nvtxSyncUserAttributes_t {
  uint16_t version, size;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxSyncUserAttributes_t;

// The payload extension.
enum {
  NVTX_PAYLOAD_TYPE_EXT = -541261815,  // 0xDFBD0009
  NVTX_PAYLOAD_ENTRY_TYPE_INT = 5,
  NVTX_PAYLOAD_ENTRY_TYPE_INT32 = 15,
  NVTX_PAYLOAD_ENTRY_TYPE_INT64 = 17,
  NVTX_PAYLOAD_ENTRY_TYPE_UINT64 = 18,
  NVTX_PAYLOAD_ENTRY_TYPE_FLOAT = 19,
  NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE = 20,
  NVTX_PAYLOAD_ENTRY_TYPE_SIZE = 22,
  NVTX_PAYLOAD_ENTRY_TYPE_CSTRING = 75,
  NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE = 80,
  NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE = 1 << 10,
  NVTX_PAYLOAD_SCHEMA_TYPE_STATIC = 1,
  NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP = 1 << 3,
  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME = 1 << 1,
  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE = 1 << 2,
  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS = 1 << 3,
  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES = 1 << 4,
  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES = 1 << 5,
  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE = 1 << 6,
  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID = 1 << 8,
  NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME = 1 << 1,
  NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES = 1 << 2,
  NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES = 1 << 3,
  NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE = 1 << 4,
  NVTX_PAYLOAD_SCHEMA_ID_STATIC_START = 1 << 24,
  NVTX_COUNTER_ID_STATIC_START = 1 << 24,
  NVTX_COUNTER_SAMPLE_UNAVAILABLE = 2,
  NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC = 14,
};

typedef struct nvtxPayloadData_t {
  uint64_t schemaId;
  size_t size;
  const void *payload;
} nvtxPayloadData_t;

typedef struct nvtxPayloadSchemaEntry_t {
  uint64_t flags, type;
  const char *name, *description;
  uint64_t arrayOrUnionDetail, offset;
  const void *semantics, *reserved;
} nvtxPayloadSchemaEntry_t;

typedef struct nvtxPayloadSchemaAttr_t {
  uint64_t fieldMask;
  const char *name;
  uint64_t type, flags;
  const nvtxPayloadSchemaEntry_t *entries;
  size_t numEntries, payloadStaticSize, packAlign;
  uint64_t schemaId;
  void *extension;
} nvtxPayloadSchemaAttr_t;

typedef struct nvtxPayloadEnum_t {
  const char *name;
  uint64_t value;
  int8_t isFlag;
} nvtxPayloadEnum_t;

typedef struct nvtxPayloadEnumAttr_t {
  uint64_t fieldMask;
  const char *name;
  const nvtxPayloadEnum_t *entries;
  size_t numEntries, sizeOfEnum;
  uint64_t schemaId;
  void *extension;
} nvtxPayloadEnumAttr_t;

typedef struct nvtxScopeAttr_t {
  size_t structSize;
  const char *path;
  uint64_t parentScope, scopeId;
} nvtxScopeAttr_t;

typedef struct nvtxTimeDomainAttr_t {
  uint64_t scopeId, timestampTypeId, timeDomainId, timerFlags;
  int64_t timerResolution;
  uint64_t timerStart;
} nvtxTimeDomainAttr_t;

typedef struct nvtxSyncPoint_t {
  int64_t src, dst;
} nvtxSyncPoint_t;

typedef struct nvtxEventBatch_t {
  uint64_t eventSchemaId;
  size_t size;
  const void *events;
  uint64_t scope, flags;
  const void *flexData;
  size_t flexDataSize, flexDataOffset;
} nvtxEventBatch_t;

// The counters extension.
typedef struct nvtxCounterAttr_t {
  size_t structSize;
  uint64_t schemaId;
  const char *name, *description;
  uint64_t scopeId;
  const void *semantics;
  uint64_t counterId;
} nvtxCounterAttr_t;

typedef struct nvtxCounterBatch_t {
  uint64_t counterId;
  const void *counters;
  size_t countersSize;
  uint64_t flags;
  const int64_t *timestamps;
  size_t timestampsSize;
} nvtxCounterBatch_t;
