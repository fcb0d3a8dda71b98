// SPDX-License-Identifier: Apache-2.0
//
// Converts one event of a trace to records.
#pragma once

#include "import/importer.h"

// ppi_convert turns importer->fields into records.
void ppi_convert(ppi_importer *importer);

void ppi_convert_memory(ppi_importer *importer, uint64_t time, uint32_t row);
void ppi_convert_metadata(ppi_importer *importer);
void ppi_convert_device(ppi_importer *importer, uint32_t row, uint32_t site,
                        uint64_t start, uint64_t end);
// ppi_convert_node numbers a node of ONNX Runtime, from 1, as the last one of
// its operator and of its name. 0: out of memory; the node then has no kernels.
uint64_t ppi_convert_node(ppi_importer *importer, const char *op_name,
                          const char *name);
// ppi_convert_stream answers the stream of an event of a device.
uint32_t ppi_convert_stream(ppi_importer *importer, uint32_t row);
