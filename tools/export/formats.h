// SPDX-License-Identifier: Apache-2.0
//
// The formats, one file each; formats.c has the table.
#pragma once

#include "export/export.h"

extern const ppi_export_format ppi_format_folded;
extern const ppi_export_format ppi_format_otlp;
extern const ppi_export_format ppi_format_parquet;
extern const ppi_export_format ppi_format_perfetto;
extern const ppi_export_format ppi_format_profile;
extern const ppi_export_format ppi_format_speedscope;
extern const ppi_export_format ppi_format_sqlite;
