// SPDX-License-Identifier: Apache-2.0
//
// The page's styles and its script, made of exporters/html by embed.sh.
#pragma once

#include "pprof/base.h"

extern const unsigned char ppi_page_style[];
extern const size_t ppi_page_style_len;
extern const unsigned char ppi_page_script[];
extern const size_t ppi_page_script_len;
