// SPDX-License-Identifier: Apache-2.0
//
// What is published of devices, and which model a stage has.
#include "view/report_options.h"

#include <gtest/gtest.h>

namespace {

TEST(StageCostTest, RoofsAreDenseAndByType) {
  const ppi_roof h100 = ppi_roof_of("NVIDIA H100 80GB HBM3", "bf16");
  EXPECT_EQ(h100.flops, 989e12);
  EXPECT_DOUBLE_EQ(h100.bytes, 3.35e12);
  EXPECT_EQ(ppi_roof_of("NVIDIA H200", "fp8").flops, 1979e12);
  EXPECT_EQ(ppi_roof_of("NVIDIA H200", "f32").flops, 67e12);
  EXPECT_EQ(ppi_roof_of("NVIDIA A100-SXM4-80GB", "f16").flops, 312e12);
  EXPECT_DOUBLE_EQ(ppi_roof_of("NVIDIA A100-SXM4-40GB", "f16").bytes, 1.555e12);
  EXPECT_DOUBLE_EQ(ppi_roof_of("NVIDIA A100-SXM4-80GB", "f16").bytes, 2.039e12);
  EXPECT_EQ(ppi_roof_of("NVIDIA H200", "int8").flops, 1979e12);
  EXPECT_DOUBLE_EQ(ppi_roof_of("NVIDIA A100 80GB PCIe", "int8").bytes,
                   1.935e12);
  EXPECT_EQ(ppi_roof_of("NVIDIA B200", "bf16").flops, 2250e12);
  EXPECT_EQ(ppi_roof_of("AMD Instinct MI300X", "bf16").flops, 1307e12);
}

TEST(StageCostTest, WhatNobodySaysIsZero) {
  EXPECT_EQ(ppi_roof_of("NVIDIA H100 80GB HBM3", "int64").flops, 0);
  // Other forms, with other peaks, of names that have one.
  EXPECT_EQ(ppi_roof_of("NVIDIA H200 NVL", "bf16").flops, 0);
  EXPECT_EQ(ppi_roof_of("NVIDIA GB200", "bf16").flops, 0);
  EXPECT_EQ(ppi_roof_of("NVIDIA A100-SXM-64GB", "bf16").flops, 0);
  EXPECT_EQ(ppi_roof_of("NVIDIA H100 PCIe", "bf16").flops, 0);
  // Not told alike by what was compared.
  EXPECT_EQ(ppi_roof_of("NVIDIA B200", "tf32").flops, 0);
  EXPECT_EQ(ppi_roof_of("AMD Instinct MI300X", "f32").flops, 0);
  EXPECT_EQ(ppi_roof_of("NVIDIA GeForce RTX 9999", "f32").flops, 0);
  EXPECT_EQ(ppi_roof_of("NVIDIA GeForce RTX 9999", "f32").bytes, 0);
}

TEST(StageCostTest, TheFirstThatFits) {
  ppi_stage_costs costs = {};
  costs.num = 2;
  snprintf(costs.items[0].glob, sizeof costs.items[0].glob, "detect*");
  snprintf(costs.items[1].glob, sizeof costs.items[1].glob, "*");
  EXPECT_EQ(ppi_stage_cost_find(&costs, "detector"), &costs.items[0]);
  EXPECT_EQ(ppi_stage_cost_find(&costs, "encode"), &costs.items[1]);
  EXPECT_EQ(ppi_stage_cost_find(nullptr, "encode"), nullptr);
}

TEST(StageCostTest, PeaksOfMemoryAreNoPeaksOfATypes) {
  ppi_peaks peaks;
  ASSERT_EQ(ppi_peaks_parse("bytes=2T@a*,f32=67T", &peaks, nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(ppi_peaks_find(&peaks, "abc", nullptr)->flops, 67e12);
  EXPECT_EQ(ppi_peaks_memory(&peaks, "abc")->flops, 2e12);
  EXPECT_EQ(ppi_peaks_memory(&peaks, "b"), nullptr);
}

TEST(StageCostTest, AModelsTypeChoosesThePeak) {
  ppi_peaks peaks;
  ASSERT_EQ(ppi_peaks_parse("bf16=989T,f32=67T,f32=60T@slow*", &peaks, nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(ppi_peaks_find(&peaks, "abc", "f32")->flops, 67e12);
  EXPECT_EQ(ppi_peaks_find(&peaks, "abc", "int8")->flops, 989e12);
  EXPECT_EQ(ppi_peaks_find(&peaks, "abc", "")->flops, 989e12);
}

}  // namespace
