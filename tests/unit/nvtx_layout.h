// SPDX-License-Identifier: Apache-2.0
//
// Our structures of payload schemas are NVTX's own, where its headers are
// installed.
#pragma once

#include <cstddef>

#include "payload.h"
#include "payload_schema.h"

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#define SAME_FIELD(ours, field, theirs, their_field)                      \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field) && \
                    sizeof(ours::field) == sizeof(theirs::their_field),   \
                #ours "." #field)
#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs))
SAME_SIZE(ppi_payload_blob, nvtxPayloadData_t);
SAME_FIELD(ppi_payload_blob, schema_id, nvtxPayloadData_t, schemaId);
SAME_FIELD(ppi_payload_blob, size, nvtxPayloadData_t, size);
SAME_FIELD(ppi_payload_blob, bytes, nvtxPayloadData_t, payload);
SAME_SIZE(ppi_payload_schema_entry, nvtxPayloadSchemaEntry_t);
SAME_FIELD(ppi_payload_schema_entry, flags, nvtxPayloadSchemaEntry_t, flags);
SAME_FIELD(ppi_payload_schema_entry, type, nvtxPayloadSchemaEntry_t, type);
SAME_FIELD(ppi_payload_schema_entry, name, nvtxPayloadSchemaEntry_t, name);
SAME_FIELD(ppi_payload_schema_entry, detail, nvtxPayloadSchemaEntry_t,
           arrayOrUnionDetail);
SAME_FIELD(ppi_payload_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_FIELD(ppi_payload_schema_entry, semantics, nvtxPayloadSchemaEntry_t,
           semantics);
SAME_SIZE(ppi_payload_schema_attributes, nvtxPayloadSchemaAttr_t);
SAME_FIELD(ppi_payload_schema_attributes, fields, nvtxPayloadSchemaAttr_t,
           fieldMask);
SAME_FIELD(ppi_payload_schema_attributes, type, nvtxPayloadSchemaAttr_t, type);
SAME_FIELD(ppi_payload_schema_attributes, entries, nvtxPayloadSchemaAttr_t,
           entries);
SAME_FIELD(ppi_payload_schema_attributes, num_entries, nvtxPayloadSchemaAttr_t,
           numEntries);
SAME_FIELD(ppi_payload_schema_attributes, static_size, nvtxPayloadSchemaAttr_t,
           payloadStaticSize);
SAME_FIELD(ppi_payload_schema_attributes, pack_align, nvtxPayloadSchemaAttr_t,
           packAlign);
SAME_FIELD(ppi_payload_schema_attributes, id, nvtxPayloadSchemaAttr_t,
           schemaId);
SAME_SIZE(ppi_payload_enumerator, nvtxPayloadEnum_t);
SAME_FIELD(ppi_payload_enumerator, value, nvtxPayloadEnum_t, value);
SAME_SIZE(ppi_payload_enum_attributes, nvtxPayloadEnumAttr_t);
SAME_FIELD(ppi_payload_enum_attributes, entries, nvtxPayloadEnumAttr_t,
           entries);
SAME_FIELD(ppi_payload_enum_attributes, size, nvtxPayloadEnumAttr_t,
           sizeOfEnum);
SAME_FIELD(ppi_payload_enum_attributes, id, nvtxPayloadEnumAttr_t, schemaId);
SAME_SIZE(ppi_payload_semantics, nvtxSemanticsHeader_t);
SAME_FIELD(ppi_payload_semantics, id, nvtxSemanticsHeader_t, semanticId);
SAME_FIELD(ppi_payload_semantics, next, nvtxSemanticsHeader_t, next);
SAME_SIZE(ppi_payload_counter_semantics, nvtxSemanticsCounter_t);
SAME_FIELD(ppi_payload_counter_semantics, unit, nvtxSemanticsCounter_t, unit);
SAME_FIELD(ppi_payload_counter_semantics, scale_numerator,
           nvtxSemanticsCounter_t, unitScaleNumerator);

#define SAME_VALUE(ours, theirs) \
  static_assert((uint64_t)(ours) == (uint64_t)(theirs), #ours)
SAME_VALUE(PPI_PAYLOAD_SEMANTICS_COUNTER, NVTX_SEMANTIC_ID_COUNTERS_V1);
SAME_VALUE(PPI_PAYLOAD_TYPE_CHAR, NVTX_PAYLOAD_ENTRY_TYPE_CHAR);
SAME_VALUE(PPI_PAYLOAD_TYPE_ULONGLONG, NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG);
SAME_VALUE(PPI_PAYLOAD_TYPE_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
SAME_VALUE(PPI_PAYLOAD_TYPE_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
SAME_VALUE(PPI_PAYLOAD_TYPE_CHAR32, NVTX_PAYLOAD_ENTRY_TYPE_CHAR32);
SAME_VALUE(PPI_PAYLOAD_TYPE_BYTE, NVTX_PAYLOAD_ENTRY_TYPE_BYTE);
SAME_VALUE(PPI_PAYLOAD_TYPE_UINT128, NVTX_PAYLOAD_ENTRY_TYPE_UINT128);
SAME_VALUE(PPI_PAYLOAD_TYPE_FLOAT128, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128);
SAME_VALUE(PPI_PAYLOAD_TYPE_BF16, NVTX_PAYLOAD_ENTRY_TYPE_BF16);
SAME_VALUE(PPI_PAYLOAD_TYPE_TF32, NVTX_PAYLOAD_ENTRY_TYPE_TF32);
SAME_VALUE(PPI_PAYLOAD_TYPE_CATEGORY, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY);
SAME_VALUE(PPI_PAYLOAD_TYPE_TID64, NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64);
SAME_VALUE(PPI_PAYLOAD_TYPE_UTF32, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
SAME_VALUE(PPI_PAYLOAD_TYPE_REGISTERED,
           NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
SAME_VALUE(PPI_PAYLOAD_TYPE_SELECTOR, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR);
SAME_VALUE(PPI_PAYLOAD_TYPE_REFERENCED, NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED);
SAME_VALUE(PPI_PAYLOAD_TYPE_RAW, NVTX_TYPE_PAYLOAD_SCHEMA_RAW);
SAME_VALUE(PPI_PAYLOAD_STATIC_ID_FIRST, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME_VALUE(PPI_PAYLOAD_DYNAMIC_ID_FIRST, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
SAME_VALUE(PPI_PAYLOAD_SCHEMA_UNION_SELF,
           NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR);
SAME_VALUE(PPI_PAYLOAD_SCHEMA_FIELD_ID,
           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME_VALUE(PPI_PAYLOAD_ENUM_FIELD_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME_VALUE(PPI_PAYLOAD_ENTRY_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME_VALUE(PPI_PAYLOAD_ENTRY_OFFSET_FROM_HERE,
           NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
SAME_VALUE(PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX,
           NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
SAME_VALUE(PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_PAYLOAD,
           NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX);
SAME_VALUE(PPI_PAYLOAD_ENTRY_DEEP_COPY, NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY);
SAME_VALUE(PPI_PAYLOAD_ENTRY_HIDDEN, NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
SAME_VALUE(PPI_PAYLOAD_ENTRY_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
#endif

// These hold without the headers too.
static_assert(sizeof(ppi_payload_blob) == 24);
static_assert(sizeof(ppi_payload_schema_entry) == 64);
static_assert(sizeof(ppi_payload_schema_attributes) == 80);
