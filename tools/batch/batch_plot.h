// SPDX-License-Identifier: Apache-2.0
//
// The curve of a search as one HTML file that needs nothing else.
#pragma once

#include "batch/batch_result.h"
#include "file/text.h"

void ppi_batch_plot(const ppi_batch_result *result, ppi_page *page);
