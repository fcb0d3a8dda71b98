// SPDX-License-Identifier: Apache-2.0
//
// The page's styles and its script, made of exporters/html by embed.sh.
#pragma once

#include <stddef.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

extern const unsigned char ppi_page_style[];
extern const size_t ppi_page_style_len;
extern const unsigned char ppi_page_script[];
extern const size_t ppi_page_script_len;

PPROF_END_C_
