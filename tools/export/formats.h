// SPDX-License-Identifier: Apache-2.0
//
// Lists the formats, one file each: ppi_format_NAME.
#pragma once

#include "export/export.h"

// clang-format off
#define PPI_EXPORT_FORMATS(each) \
  each(folded) \
  each(otlp) \
  each(parquet) \
  each(perfetto) \
  each(profile) \
  each(speedscope) \
  each(sqlite)
// clang-format on

#define PPI_EXPORT_DECLARE_(name) \
  extern const ppi_export_format ppi_format_##name;
PPI_EXPORT_FORMATS(PPI_EXPORT_DECLARE_)
#undef PPI_EXPORT_DECLARE_
