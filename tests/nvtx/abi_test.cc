// SPDX-License-Identifier: Apache-2.0
//
// Our words for NVTX's ABI against the CUDA toolkit's headers: layouts and
// numbers at compile time, the tables that a program offers at run time.
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSync.h>

#include <cstddef>

// The one name that both have.
#define NVTX_COLOR_ARGB OUR_COLOR_ARGB
#include "abi.h"
#include "payload.h"
#undef NVTX_COLOR_ARGB

#define SAME(ours, theirs)                                                    \
  static_assert(static_cast<uint64_t>(ours) == static_cast<uint64_t>(theirs), \
                #ours)
#define SAME_SIZE(ours, theirs) SAME(sizeof(ours), sizeof(theirs))
#define SAME_FIELD(ours, our_field, theirs, their_field)          \
  SAME(offsetof(ours, our_field), offsetof(theirs, their_field)); \
  SAME(sizeof(static_cast<ours *>(nullptr)->our_field),           \
       sizeof(static_cast<theirs *>(nullptr)->their_field))

SAME(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_TABLE_VERSION, NVTX_ETID_VERSIONINFO);
SAME_SIZE(nvtx_callbacks, NvtxExportTableCallbacks);
SAME_FIELD(nvtx_callbacks, size, NvtxExportTableCallbacks, struct_size);
SAME_FIELD(nvtx_callbacks, get_module_table, NvtxExportTableCallbacks,
           GetModuleFunctionTable);
SAME_SIZE(nvtx_version_info, NvtxExportTableVersionInfo);
SAME_FIELD(nvtx_version_info, version, NvtxExportTableVersionInfo, version);
SAME_FIELD(nvtx_version_info, set_tool_version, NvtxExportTableVersionInfo,
           SetInjectionNvtxVersion);

SAME(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_MODULE_CUDA, NVTX_CB_MODULE_CUDA);
SAME(NVTX_MODULE_OPENCL, NVTX_CB_MODULE_OPENCL);
SAME(NVTX_MODULE_CUDART, NVTX_CB_MODULE_CUDART);
SAME(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_MODULE_SYNC, NVTX_CB_MODULE_SYNC);
SAME(NVTX_NUM_MODULES, NVTX_CB_MODULE_SIZE);
SAME(NVTX_MAX_CALLS, NVTX_CBID_CORE_SIZE);
SAME(NVTX_MAX_CALLS, NVTX_CBID_CORE2_SIZE);
static_assert(static_cast<int>(NVTX_CBID_OPENCL_SIZE) <= NVTX_MAX_CALLS,
              "fits");

SAME(NVTX_CORE_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_CORE_MARK_A, NVTX_CBID_CORE_MarkA);
SAME(NVTX_CORE_MARK_W, NVTX_CBID_CORE_MarkW);
SAME(NVTX_CORE_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(NVTX_CORE_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(NVTX_CORE_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_CORE_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_CORE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_CORE_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_CORE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_CORE_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_CORE_NAME_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
SAME(NVTX_CORE_NAME_CATEGORY_W, NVTX_CBID_CORE_NameCategoryW);
SAME(NVTX_CORE_NAME_THREAD_A, NVTX_CBID_CORE_NameOsThreadA);
SAME(NVTX_CORE_NAME_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);

SAME(NVTX_CORE2_MARK, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_CORE2_START, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(NVTX_CORE2_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_CORE2_PUSH, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(NVTX_CORE2_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_CORE2_RESOURCE_CREATE, NVTX_CBID_CORE2_DomainResourceCreate);
SAME(NVTX_CORE2_RESOURCE_DESTROY, NVTX_CBID_CORE2_DomainResourceDestroy);
SAME(NVTX_CORE2_NAME_CATEGORY_A, NVTX_CBID_CORE2_DomainNameCategoryA);
SAME(NVTX_CORE2_NAME_CATEGORY_W, NVTX_CBID_CORE2_DomainNameCategoryW);
SAME(NVTX_CORE2_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_CORE2_REGISTER_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(NVTX_CORE2_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_CORE2_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_CORE2_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
SAME(NVTX_CORE2_INITIALIZE, NVTX_CBID_CORE2_Initialize);

SAME(NVTX_CUDA_NAME_DEVICE_A, NVTX_CBID_CUDA_NameCuDeviceA);
SAME(NVTX_CUDA_NAME_CONTEXT_A, NVTX_CBID_CUDA_NameCuContextA);
SAME(NVTX_CUDA_NAME_STREAM_A, NVTX_CBID_CUDA_NameCuStreamA);
SAME(NVTX_CUDA_NAME_STREAM_W, NVTX_CBID_CUDA_NameCuStreamW);
SAME(NVTX_CUDA_NAME_EVENT_W, NVTX_CBID_CUDA_NameCuEventW);
SAME(NVTX_CUDART_NAME_DEVICE_A, NVTX_CBID_CUDART_NameCudaDeviceA);
SAME(NVTX_CUDART_NAME_STREAM_A, NVTX_CBID_CUDART_NameCudaStreamA);
SAME(NVTX_CUDART_NAME_STREAM_W, NVTX_CBID_CUDART_NameCudaStreamW);
SAME(NVTX_CUDART_NAME_EVENT_W, NVTX_CBID_CUDART_NameCudaEventW);
SAME(NVTX_SYNC_CREATE, NVTX_CBID_SYNC_DomainSyncUserCreate);
SAME(NVTX_SYNC_DESTROY, NVTX_CBID_SYNC_DomainSyncUserDestroy);
SAME(NVTX_SYNC_ACQUIRE_START, NVTX_CBID_SYNC_DomainSyncUserAcquireStart);
SAME(NVTX_SYNC_ACQUIRE_FAILED, NVTX_CBID_SYNC_DomainSyncUserAcquireFailed);
SAME(NVTX_SYNC_ACQUIRE_SUCCESS, NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess);
SAME(NVTX_SYNC_RELEASING, NVTX_CBID_SYNC_DomainSyncUserReleasing);

SAME(NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
static_assert(static_cast<int>(::NVTX_MESSAGE_REGISTERED) ==
                  static_cast<int>(NVTX_MESSAGE_TYPE_REGISTERED),
              "registered");
SAME(OUR_COLOR_ARGB, NVTX_COLOR_ARGB);
SAME(NVTX_PAYLOAD_U64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(NVTX_PAYLOAD_I64, NVTX_PAYLOAD_TYPE_INT64);
SAME(NVTX_PAYLOAD_DOUBLE, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(NVTX_PAYLOAD_U32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(NVTX_PAYLOAD_I32, NVTX_PAYLOAD_TYPE_INT32);
SAME(NVTX_PAYLOAD_FLOAT, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(NVTX_PAYLOAD_SCHEMA, NVTX_PAYLOAD_TYPE_EXT);

SAME_SIZE(nvtx_attributes, nvtxEventAttributes_t);
SAME_FIELD(nvtx_attributes, version, nvtxEventAttributes_t, version);
SAME_FIELD(nvtx_attributes, size, nvtxEventAttributes_t, size);
SAME_FIELD(nvtx_attributes, category, nvtxEventAttributes_t, category);
SAME_FIELD(nvtx_attributes, color_type, nvtxEventAttributes_t, colorType);
SAME_FIELD(nvtx_attributes, color, nvtxEventAttributes_t, color);
SAME_FIELD(nvtx_attributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_FIELD(nvtx_attributes, payload_num, nvtxEventAttributes_t, reserved0);
SAME_FIELD(nvtx_attributes, payload, nvtxEventAttributes_t, payload);
SAME_FIELD(nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
SAME_FIELD(nvtx_attributes, message, nvtxEventAttributes_t, message);

SAME_SIZE(nvtx_resource_attributes, nvtxResourceAttributes_t);
SAME_FIELD(nvtx_resource_attributes, type, nvtxResourceAttributes_t,
           identifierType);
SAME_FIELD(nvtx_resource_attributes, identifier, nvtxResourceAttributes_t,
           identifier);
SAME_FIELD(nvtx_resource_attributes, message_type, nvtxResourceAttributes_t,
           messageType);
SAME_FIELD(nvtx_resource_attributes, message, nvtxResourceAttributes_t,
           message);
SAME(NVTX_RESOURCE_THREAD_NATIVE, NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);
SAME(NVTX_RESOURCE_THREAD_POSIX, NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX);
SAME(NVTX_RESOURCE_CU_STREAM, NVTX_RESOURCE_TYPE_CUDA_STREAM);
static_assert(static_cast<int>(::NVTX_RESOURCE_CUDART_STREAM) ==
                  static_cast<int>(NVTX_RESOURCE_TYPE_CUDART_STREAM),
              "stream");

SAME(NVTX_SLOT_FRESH, NVTX_EXTENSION_FRESH);
SAME(NVTX_SLOT_DISABLED, NVTX_EXTENSION_DISABLED);
SAME(NVTX_EXTENSION_MEMORY, NVTX_EXT_MODULEID_MEM);
SAME(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(NVTX_EXTENSION_COUNTERS, NVTX_EXT_COUNTERS_MODULEID);
SAME(NVTX_MAX_EXTENSION_CALLS, NVTX_EXT_COUNTERS_SLOT_COUNT);
SAME_SIZE(nvtx_segment, nvtxExtModuleSegment_t);
SAME_FIELD(nvtx_segment, id, nvtxExtModuleSegment_t, segmentId);
SAME_FIELD(nvtx_segment, num_slots, nvtxExtModuleSegment_t, slotCount);
SAME_FIELD(nvtx_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SAME_SIZE(nvtx_extension, nvtxExtModuleInfo_t);
SAME_FIELD(nvtx_extension, version, nvtxExtModuleInfo_t, nvtxVer);
SAME_FIELD(nvtx_extension, size, nvtxExtModuleInfo_t, structSize);
SAME_FIELD(nvtx_extension, module, nvtxExtModuleInfo_t, moduleId);
SAME_FIELD(nvtx_extension, compat, nvtxExtModuleInfo_t, compatId);
SAME_FIELD(nvtx_extension, num_segments, nvtxExtModuleInfo_t, segmentsCount);
SAME_FIELD(nvtx_extension, segments, nvtxExtModuleInfo_t, segments);
SAME_FIELD(nvtx_extension, info, nvtxExtModuleInfo_t, extInfo);

SAME(NVTX_PAYLOAD_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(NVTX_PAYLOAD_ENUM_REGISTER, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME(NVTX_PAYLOAD_MARK, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(NVTX_PAYLOAD_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(NVTX_PAYLOAD_POP, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(NVTX_PAYLOAD_START, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(NVTX_PAYLOAD_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(NVTX_PAYLOAD_DOMAIN_IS_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(NVTX_COUNTER_REGISTER, NVTX3EXT_CBID_nvtxCounterRegister);
SAME(NVTX_COUNTER_SAMPLE_INT64, NVTX3EXT_CBID_nvtxCounterSampleInt64);
SAME(NVTX_COUNTER_SAMPLE_FLOAT64, NVTX3EXT_CBID_nvtxCounterSampleFloat64);
SAME(NVTX_COUNTER_SAMPLE, NVTX3EXT_CBID_nvtxCounterSample);
SAME(NVTX_COUNTER_SAMPLE_NO_VALUE, NVTX3EXT_CBID_nvtxCounterSampleNoValue);
SAME(NVTX_COUNTER_BATCH_SUBMIT, NVTX3EXT_CBID_nvtxCounterBatchSubmit);
SAME(NVTX_COUNTER_STATIC_FIRST, NVTX_COUNTER_ID_STATIC_START);
SAME(NVTX_COUNTER_DYNAMIC_FIRST, NVTX_COUNTER_ID_DYNAMIC_START);
SAME_SIZE(nvtx_counter_attributes, nvtxCounterAttr_t);
SAME_FIELD(nvtx_counter_attributes, schema, nvtxCounterAttr_t, schemaId);
SAME_FIELD(nvtx_counter_attributes, name, nvtxCounterAttr_t, name);
SAME_FIELD(nvtx_counter_attributes, semantics, nvtxCounterAttr_t, semantics);
SAME_FIELD(nvtx_counter_attributes, id, nvtxCounterAttr_t, counterId);
SAME_SIZE(nvtx_counter_batch, nvtxCounterBatch_t);
SAME_FIELD(nvtx_counter_batch, id, nvtxCounterBatch_t, counterId);
SAME(NVTX_PAYLOAD_EVENT_SUBMIT, NVTX3EXT_CBID_nvtxEventSubmit);
SAME(NVTX_PAYLOAD_EVENT_BATCH_SUBMIT, NVTX3EXT_CBID_nvtxEventBatchSubmit);
SAME_SIZE(nvtx_event_batch, nvtxEventBatch_t);
SAME_FIELD(nvtx_event_batch, schema, nvtxEventBatch_t, eventSchemaId);

SAME_SIZE(ppi_payload_blob, nvtxPayloadData_t);
SAME_FIELD(ppi_payload_blob, schema_id, nvtxPayloadData_t, schemaId);
SAME_FIELD(ppi_payload_blob, size, nvtxPayloadData_t, size);
SAME_FIELD(ppi_payload_blob, bytes, nvtxPayloadData_t, payload);
SAME_SIZE(ppi_payload_semantics, nvtxSemanticsHeader_t);
SAME_FIELD(ppi_payload_semantics, id, nvtxSemanticsHeader_t, semanticId);
SAME_FIELD(ppi_payload_semantics, version, nvtxSemanticsHeader_t, version);
SAME_FIELD(ppi_payload_semantics, next, nvtxSemanticsHeader_t, next);
SAME(PPI_PAYLOAD_SEMANTICS_COUNTER, NVTX_SEMANTIC_ID_COUNTERS_V1);
SAME_SIZE(ppi_payload_counter_semantics, nvtxSemanticsCounter_t);
SAME_FIELD(ppi_payload_counter_semantics, flags, nvtxSemanticsCounter_t, flags);
SAME_FIELD(ppi_payload_counter_semantics, unit, nvtxSemanticsCounter_t, unit);
SAME_FIELD(ppi_payload_counter_semantics, scale_numerator,
           nvtxSemanticsCounter_t, unitScaleNumerator);
SAME_FIELD(ppi_payload_counter_semantics, scale_denominator,
           nvtxSemanticsCounter_t, unitScaleDenominator);
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
SAME_FIELD(ppi_payload_schema_attributes, name, nvtxPayloadSchemaAttr_t, name);
SAME_FIELD(ppi_payload_schema_attributes, type, nvtxPayloadSchemaAttr_t, type);
SAME_FIELD(ppi_payload_schema_attributes, flags, nvtxPayloadSchemaAttr_t,
           flags);
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
SAME_FIELD(ppi_payload_enumerator, is_flag, nvtxPayloadEnum_t, isFlag);
SAME_SIZE(ppi_payload_enum_attributes, nvtxPayloadEnumAttr_t);
SAME_FIELD(ppi_payload_enum_attributes, entries, nvtxPayloadEnumAttr_t,
           entries);
SAME_FIELD(ppi_payload_enum_attributes, num_entries, nvtxPayloadEnumAttr_t,
           numEntries);
SAME_FIELD(ppi_payload_enum_attributes, size, nvtxPayloadEnumAttr_t,
           sizeOfEnum);
SAME_FIELD(ppi_payload_enum_attributes, id, nvtxPayloadEnumAttr_t, schemaId);
SAME(PPI_PAYLOAD_SCHEMA_FIELD_NAME, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME);
SAME(PPI_PAYLOAD_SCHEMA_FIELD_STATIC_SIZE,
     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
SAME(PPI_PAYLOAD_SCHEMA_FIELD_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME(PPI_PAYLOAD_ENUM_FIELD_SIZE, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME(PPI_PAYLOAD_ENUM_FIELD_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME(PPI_PAYLOAD_SCHEMA_STATIC, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
SAME(PPI_PAYLOAD_SCHEMA_UNION_SELF,
     NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR);
SAME(PPI_PAYLOAD_ENTRY_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME(PPI_PAYLOAD_ENTRY_OFFSET_FROM_BASE,
     NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE);
SAME(PPI_PAYLOAD_ENTRY_ARRAY_FIXED, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
SAME(PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_PAYLOAD,
     NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX);
SAME(PPI_PAYLOAD_ENTRY_DEEP_COPY, NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY);
SAME(PPI_PAYLOAD_ENTRY_HIDDEN, NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
SAME(PPI_PAYLOAD_ENTRY_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
SAME(PPI_PAYLOAD_ENTRY_OFFSET_FROM_HERE,
     NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
SAME(PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX,
     NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
SAME(PPI_PAYLOAD_TYPE_CHAR, NVTX_PAYLOAD_ENTRY_TYPE_CHAR);
SAME(PPI_PAYLOAD_TYPE_FLOAT128, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128);
SAME(PPI_PAYLOAD_TYPE_REFERENCED, NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED);
SAME(PPI_PAYLOAD_TYPE_ULONGLONG, NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG);
SAME(PPI_PAYLOAD_TYPE_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
SAME(PPI_PAYLOAD_TYPE_DOUBLE, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
SAME(PPI_PAYLOAD_TYPE_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
SAME(PPI_PAYLOAD_TYPE_CHAR32, NVTX_PAYLOAD_ENTRY_TYPE_CHAR32);
SAME(PPI_PAYLOAD_TYPE_BYTE, NVTX_PAYLOAD_ENTRY_TYPE_BYTE);
SAME(PPI_PAYLOAD_TYPE_UINT128, NVTX_PAYLOAD_ENTRY_TYPE_UINT128);
SAME(PPI_PAYLOAD_TYPE_FLOAT64, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64);
SAME(PPI_PAYLOAD_TYPE_BF16, NVTX_PAYLOAD_ENTRY_TYPE_BF16);
SAME(PPI_PAYLOAD_TYPE_TF32, NVTX_PAYLOAD_ENTRY_TYPE_TF32);
SAME(PPI_PAYLOAD_TYPE_CATEGORY, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY);
SAME(PPI_PAYLOAD_TYPE_TID64, NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64);
SAME(PPI_PAYLOAD_TYPE_CSTRING, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
SAME(PPI_PAYLOAD_TYPE_UTF32, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
SAME(PPI_PAYLOAD_TYPE_REGISTERED,
     NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
SAME(PPI_PAYLOAD_TYPE_SELECTOR, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR);
SAME(PPI_PAYLOAD_TYPE_RAW, NVTX_TYPE_PAYLOAD_SCHEMA_RAW);
SAME(PPI_PAYLOAD_STATIC_ID_FIRST, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME(PPI_PAYLOAD_DYNAMIC_ID_FIRST, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);

namespace {

// What a program built with the real headers offers to a tool, read as we do.
const void *ExportTable(uint32_t id) {
  return nvtxGetExportTable_v3(id);
}

TEST(NvtxAbiTest, ProgramOffersTablesWeCanRead) {
  const unsigned sizes[NVTX_NUM_MODULES] = {0, 16, 9, 15, 7, 16, 7};
  const auto *callbacks =
      static_cast<const nvtx_callbacks *>(ExportTable(NVTX_TABLE_CALLBACKS));
  ASSERT_NE(callbacks, nullptr);
  EXPECT_EQ(callbacks->size, sizeof(nvtx_callbacks));
  for (uint32_t module = 1; module < NVTX_NUM_MODULES; module++) {
    nvtx_function **table = nullptr;
    unsigned num = 0;
    ASSERT_EQ(callbacks->get_module_table(module, &table, &num), 1);
    EXPECT_EQ(num, sizes[module]) << module;
    EXPECT_EQ(table[0], nullptr);
    for (unsigned i = 1; i < num; i++) EXPECT_NE(table[i], nullptr);
  }
}

TEST(NvtxAbiTest, ProgramSaysItsVersion) {
  const auto *info =
      static_cast<const nvtx_version_info *>(ExportTable(NVTX_TABLE_VERSION));
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->size, sizeof(nvtx_version_info));
  EXPECT_EQ(info->version, 3u);
  EXPECT_NE(info->set_tool_version, nullptr);
}

}  // namespace
