// SPDX-License-Identifier: Apache-2.0
//
// Payload schemas: every kind of entry decoded, and what a hostile program may
// pass.
#include "payload.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "payload_schema.h"

namespace {

using Entry = ppi_payload_schema_entry;

Entry Of(uint64_t type, const char *name, uint64_t flags = 0,
         uint64_t detail = 0, uint64_t offset = 0) {
  return {flags, type, name, nullptr, detail, offset, nullptr, nullptr};
}

std::string Number(const ppi_payload_value &value) {
  char text[64];
  if (value.kind == PPI_PAYLOAD_VALUE_SIGNED)
    snprintf(text, sizeof text, "%lld", (long long)value.number.i64);
  else if (value.kind == PPI_PAYLOAD_VALUE_REAL)
    snprintf(text, sizeof text, "%g", value.number.f64);
  else if (value.kind == PPI_PAYLOAD_VALUE_OPAQUE)
    snprintf(text, sizeof text, "?");
  else
    snprintf(text, sizeof text, "%llu", (unsigned long long)value.number.u64);
  return text;
}

class PayloadTest : public testing::Test {
 protected:
  uint64_t Register(const std::vector<Entry> &entries, uint64_t id = 0,
                    uint64_t type = PPI_PAYLOAD_SCHEMA_STATIC,
                    uint64_t pack = 0, uint32_t domain = 1) {
    ppi_payload_schema_attributes attributes = {};
    attributes.fields =
        PPI_PAYLOAD_SCHEMA_FIELD_TYPE | PPI_PAYLOAD_SCHEMA_FIELD_ENTRIES |
        PPI_PAYLOAD_SCHEMA_FIELD_NUM_ENTRIES | PPI_PAYLOAD_SCHEMA_FIELD_ID |
        PPI_PAYLOAD_SCHEMA_FIELD_PACK_ALIGN;
    attributes.type = type;
    attributes.entries = entries.data();
    attributes.num_entries = entries.size();
    attributes.id = id;
    attributes.pack_align = pack;
    return ppi_payload_schema_register(schemas_.get(), domain, &attributes);
  }

  ppi_payload_event Event() {
    return {schemas_.get(), domain_, blobs_.data(), blobs_.size()};
  }

  // Every value as "path=number" or "path='text'", blank between, then `!` for
  // PARTIAL or `?` for UNKNOWN.
  std::string Decoded(std::vector<ppi_payload_blob> blobs) {
    blobs_ = std::move(blobs);
    ppi_payload_event event = Event();
    std::string said;
    ppi_payload_decoded result = ppi_payload_decode(
        &event,
        [](void *user, const ppi_payload_value *value) {
          auto *out = static_cast<std::string *>(user);
          char path[64];
          *out += (out->empty() ? "" : " ");
          *out += ppi_payload_value_path(value, path, sizeof path);
          *out += "=";
          if (value->kind == PPI_PAYLOAD_VALUE_TEXT)
            *out += "'" +
                    std::string(static_cast<const char *>(value->text),
                                value->len * value->char_bytes) +
                    "'";
          else
            *out += Number(*value);
          if (value->label) *out += std::string(":") + value->label;
          return true;
        },
        &said);
    return said + (result == PPI_PAYLOAD_PARTIAL   ? " !"
                   : result == PPI_PAYLOAD_UNKNOWN ? " ?"
                                                   : "");
  }
  template <typename T>
  std::string Decoded(uint64_t id, const T &data) {
    return Decoded({{id, sizeof data, &data}});
  }
  double Bytes(std::vector<ppi_payload_blob> blobs) {
    blobs_ = std::move(blobs);
    ppi_payload_event event = Event();
    double bytes = -1;
    return ppi_payload_bytes(&event, &bytes) ? bytes : -1;
  }

  std::unique_ptr<ppi_payload_schemas> schemas_ =
      std::make_unique<ppi_payload_schemas>();
  std::vector<ppi_payload_blob> blobs_;
  uint32_t domain_ = 1;
};

constexpr uint64_t kStatic = PPI_PAYLOAD_STATIC_ID_FIRST;

TEST_F(PayloadTest, EveryNumberType) {
  struct {
    char a;
    unsigned char b;
    short c;
    unsigned short d;
    int e;
    unsigned f;
    long g;
    unsigned long h;
    float i;
    double j;
    long double k;
    size_t l;
    const void *m;
    wchar_t n;
    uint16_t bf16;
    uint32_t category;
  } data = {-1,   255,  -2,    65535, -3,      4000000000u, -4,     ~0ul,
            1.5f, 2.25, 3.125, 77,    nullptr, L'x',        0x4049, 9};
  std::vector<Entry> entries = {
      Of(PPI_PAYLOAD_TYPE_CHAR, "a"),       Of(PPI_PAYLOAD_TYPE_UCHAR, "b"),
      Of(PPI_PAYLOAD_TYPE_SHORT, "c"),      Of(PPI_PAYLOAD_TYPE_USHORT, "d"),
      Of(PPI_PAYLOAD_TYPE_INT, "e"),        Of(PPI_PAYLOAD_TYPE_UINT32, "f"),
      Of(PPI_PAYLOAD_TYPE_INT64, "g"),      Of(PPI_PAYLOAD_TYPE_ULONG, "h"),
      Of(PPI_PAYLOAD_TYPE_FLOAT, "i"),      Of(PPI_PAYLOAD_TYPE_FLOAT64, "j"),
      Of(PPI_PAYLOAD_TYPE_LONGDOUBLE, "k"), Of(PPI_PAYLOAD_TYPE_SIZE, "l"),
      Of(PPI_PAYLOAD_TYPE_ADDRESS, "m"),    Of(PPI_PAYLOAD_TYPE_WCHAR, "n"),
      Of(PPI_PAYLOAD_TYPE_BF16, "o"),       Of(PPI_PAYLOAD_TYPE_CATEGORY, "p")};
  uint64_t id = Register(entries);
  EXPECT_EQ(PPI_PAYLOAD_DYNAMIC_ID_FIRST, id);
  EXPECT_EQ(
      "a=-1 b=255 c=-2 d=65535 e=-3 f=4000000000 g=-4 h=18446744073709551615"
      " i=1.5 j=2.25 k=3.125 l=77 m=0 n=120 o=3.14062 p=9",
      Decoded(id, data));
}

// What NCCL 2.28 registers: communicator, size in bytes, reduction.
TEST_F(PayloadTest, NcclsAllReduce) {
  struct {
    uint64_t comm;
    size_t bytes;
    int op;
  } data = {0xabcd, 1 << 20, 2};
  const ppi_payload_enumerator ops[] = {
      {"Sum", 0, 0}, {"Prod", 1, 0}, {"Max", 2, 0}};
  ppi_payload_enum_attributes reductions = {};
  reductions.fields = PPI_PAYLOAD_ENUM_FIELD_ENTRIES |
                      PPI_PAYLOAD_ENUM_FIELD_NUM_ENTRIES |
                      PPI_PAYLOAD_ENUM_FIELD_SIZE | PPI_PAYLOAD_ENUM_FIELD_ID;
  reductions.entries = ops;
  reductions.num_entries = 3;
  reductions.size = sizeof(int);
  reductions.id = kStatic + 11;
  ASSERT_EQ(kStatic + 11,
            ppi_payload_enum_register(schemas_.get(), 1, &reductions));
  ASSERT_EQ(kStatic + 5,
            Register({Of(PPI_PAYLOAD_TYPE_UINT64, "NCCL communicator ID"),
                      Of(PPI_PAYLOAD_TYPE_SIZE, "Message size [bytes]"),
                      Of(kStatic + 11, "Reduction operation")},
                     kStatic + 5));
  EXPECT_EQ(
      "NCCL communicator ID=43981 Message size [bytes]=1048576"
      " Reduction operation=2:Max",
      Decoded(kStatic + 5, data));
  EXPECT_EQ(1048576, Bytes({{kStatic + 5, sizeof data, &data}}));
  // The registry is the domain's.
  domain_ = 2;
  EXPECT_EQ(" ?", Decoded(kStatic + 5, data));
}

TEST_F(PayloadTest, WhatCountsAsBytes) {
  const struct {
    const char *name;
    bool counts;
  } names[] = {{"bytes", true},         {"num_bytes", true},
               {"Size", true},          {"message size", true},
               {"msgSize", true},       {"buffer-size", true},
               {"batch size", false},   {"world_size", false},
               {"communicator", false}, {"", false}};
  const uint64_t data = 12;
  for (const auto &one : names) {
    uint64_t id = Register({Of(PPI_PAYLOAD_TYPE_UINT64, one.name)});
    EXPECT_EQ(one.counts ? 12 : -1, Bytes({{id, sizeof data, &data}}))
        << one.name;
  }
  uint64_t hidden = Register(
      {Of(PPI_PAYLOAD_TYPE_UINT64, "bytes", PPI_PAYLOAD_ENTRY_HIDDEN)});
  EXPECT_EQ(-1, Bytes({{hidden, sizeof data, &data}}));
  // A stated unit goes before the name, with its scale.
  ppi_payload_counter_semantics counter = {};
  counter.header.struct_size = sizeof counter;
  counter.header.id = PPI_PAYLOAD_SEMANTICS_COUNTER;
  counter.unit = "B";
  counter.scale_numerator = 1024;
  counter.scale_denominator = 1;
  Entry entry = Of(PPI_PAYLOAD_TYPE_UINT64, "amount");
  entry.semantics = &counter.header;
  uint64_t with_unit = Register({entry});
  EXPECT_EQ(12288, Bytes({{with_unit, sizeof data, &data}}));
  counter.unit = "frames";
  entry.name = "bytes";
  uint64_t other_unit = Register({entry});
  EXPECT_EQ(-1, Bytes({{other_unit, sizeof data, &data}}));
  const int64_t negative = -5;
  uint64_t is_signed = Register({Of(PPI_PAYLOAD_TYPE_INT64, "bytes")});
  EXPECT_EQ(-1, Bytes({{is_signed, sizeof negative, &negative}}));
}

TEST_F(PayloadTest, OffsetsPackingAndNesting) {
  struct Inner {
    uint8_t tag;
    uint32_t value;
  };
  struct {
    uint16_t first;
    Inner inner[2];
    uint8_t last;
  } data = {1, {{2, 3}, {4, 5}}, 6};
  uint64_t inner = Register(
      {Of(PPI_PAYLOAD_TYPE_UINT8, "tag"), Of(PPI_PAYLOAD_TYPE_UINT32, "value")},
      kStatic);
  uint64_t outer =
      Register({Of(PPI_PAYLOAD_TYPE_UINT16, "first"),
                Of(inner, "inner", PPI_PAYLOAD_ENTRY_ARRAY_FIXED, 2),
                Of(PPI_PAYLOAD_TYPE_UINT8, "last")});
  EXPECT_EQ(
      "first=1 inner[0].tag=2 inner[0].value=3 inner[1].tag=4"
      " inner[1].value=5 last=6",
      Decoded(outer, data));
  const unsigned char packed[] = {7, 8, 0, 0, 0};
  uint64_t tight = Register(
      {Of(PPI_PAYLOAD_TYPE_UINT8, "a"), Of(PPI_PAYLOAD_TYPE_UINT32, "b")}, 0,
      PPI_PAYLOAD_SCHEMA_STATIC, 1);
  EXPECT_EQ("a=7 b=8", Decoded(tight, packed));
  uint64_t skipping = Register({Of(PPI_PAYLOAD_TYPE_UINT8, "a"),
                                Of(PPI_PAYLOAD_TYPE_UINT8, "b", 0, 0, 3)});
  const unsigned char spread[] = {1, 2, 3, 4};
  EXPECT_EQ("a=1 b=4", Decoded(skipping, spread));
}

TEST_F(PayloadTest, Arrays) {
  const uint16_t data[] = {3, 10, 11, 12, 7};
  uint64_t by_length = Register({Of(PPI_PAYLOAD_TYPE_UINT16, "n"),
                                 Of(PPI_PAYLOAD_TYPE_UINT16, "v",
                                    PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX, 0),
                                 Of(PPI_PAYLOAD_TYPE_UINT16, "after")},
                                0, PPI_PAYLOAD_SCHEMA_DYNAMIC);
  EXPECT_EQ("n=3 v[0]=10 v[1]=11 v[2]=12 after=7", Decoded(by_length, data));
  const uint16_t zero[] = {5, 6, 0, 8};
  uint64_t to_zero = Register({Of(PPI_PAYLOAD_TYPE_UINT16, "v",
                                  PPI_PAYLOAD_ENTRY_ARRAY_ZERO_TERMINATED),
                               Of(PPI_PAYLOAD_TYPE_UINT16, "after")},
                              0, PPI_PAYLOAD_SCHEMA_DYNAMIC);
  EXPECT_EQ("v[0]=5 v[1]=6 after=8", Decoded(to_zero, zero));
  const uint8_t grid[] = {2, 3, 1, 2, 3, 4, 5, 6};
  uint64_t two_lengths = Register(
      {Of(PPI_PAYLOAD_TYPE_UINT8, "dims", PPI_PAYLOAD_ENTRY_ARRAY_FIXED, 2),
       Of(PPI_PAYLOAD_TYPE_UINT8, "v", PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX,
          0)},
      0, PPI_PAYLOAD_SCHEMA_DYNAMIC);
  EXPECT_EQ("dims[0]=2 dims[1]=3 v[0]=1 v[1]=2 v[2]=3 v[3]=4 v[4]=5 v[5]=6",
            Decoded(two_lengths, grid));
}

// A length that stands behind what it counts is not known yet, whatever was
// decoded before.
TEST_F(PayloadTest, ALengthStandsBefore) {
  const uint8_t data[] = {1, 1, 1};
  uint64_t plain = Register(
      {Of(PPI_PAYLOAD_TYPE_UINT8, "a"), Of(PPI_PAYLOAD_TYPE_UINT8, "b")});
  uint64_t backwards = Register(
      {Of(PPI_PAYLOAD_TYPE_UINT8, "v", PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX, 1),
       Of(PPI_PAYLOAD_TYPE_UINT8, "n", 0, 0, 1)},
      0, PPI_PAYLOAD_SCHEMA_DYNAMIC);
  EXPECT_EQ("a=1 b=1", Decoded(plain, data));
  EXPECT_EQ("n=1 !", Decoded(backwards, data));
}

TEST_F(PayloadTest, Texts) {
  struct {
    char fixed[8];
    uint32_t after;
  } data = {"ab", 5};
  uint64_t fixed = Register({Of(PPI_PAYLOAD_TYPE_CSTRING, "s", 0, 8),
                             Of(PPI_PAYLOAD_TYPE_UINT32, "after")});
  EXPECT_EQ("s='ab' after=5", Decoded(fixed, data));
  // A character array is a text too.
  uint64_t letters = Register(
      {Of(PPI_PAYLOAD_TYPE_CHAR, "s", PPI_PAYLOAD_ENTRY_ARRAY_FIXED, 8),
       Of(PPI_PAYLOAD_TYPE_UINT32, "after")});
  EXPECT_EQ("s='ab' after=5", Decoded(letters, data));
  const char ended[] = "name\0\x07";
  uint64_t dynamic = Register(
      {Of(PPI_PAYLOAD_TYPE_UTF8, "s", PPI_PAYLOAD_ENTRY_ARRAY_ZERO_TERMINATED),
       Of(PPI_PAYLOAD_TYPE_UINT8, "after")},
      0, PPI_PAYLOAD_SCHEMA_DYNAMIC);
  EXPECT_EQ("s='name' after=7", Decoded({{dynamic, 6, ended}}));
  // Without its zero it is no text.
  EXPECT_EQ(" !", Decoded({{dynamic, 4, ended}}));
  const char pascal[] = "\x03hey!";
  uint64_t counted = Register({Of(PPI_PAYLOAD_TYPE_UINT8, "n"),
                               Of(PPI_PAYLOAD_TYPE_CSTRING, "s",
                                  PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX, 0)},
                              0, PPI_PAYLOAD_SCHEMA_DYNAMIC);
  EXPECT_EQ("n=3 s='hey'", Decoded({{counted, 5, pascal}}));
  EXPECT_EQ("n=3 !", Decoded({{counted, 3, pascal}}));
}

TEST_F(PayloadTest, PredefinedTypesNeedNoSchema) {
  const double real = 0.5;
  EXPECT_EQ("=0.5", Decoded(PPI_PAYLOAD_TYPE_DOUBLE, real));
  EXPECT_EQ("='hello'", Decoded({{PPI_PAYLOAD_TYPE_CSTRING, 5, "hello"}}));
  // The size is ours to find out.
  EXPECT_EQ("='hello'",
            Decoded({{PPI_PAYLOAD_TYPE_CSTRING, UINT64_MAX, "hello"}}));
  EXPECT_EQ("=0.5", Decoded({{PPI_PAYLOAD_TYPE_FLOAT64, UINT64_MAX, &real}}));
  EXPECT_EQ("", Decoded({{PPI_PAYLOAD_TYPE_RAW, 8, &real},
                         {PPI_PAYLOAD_TYPE_REFERENCED, 8, &real}}));
  EXPECT_EQ(" !", Decoded({{PPI_PAYLOAD_TYPE_DOUBLE, 7, &real}}));
  EXPECT_EQ(" !", Decoded({{PPI_PAYLOAD_TYPE_DOUBLE, 8, nullptr}}));
  EXPECT_EQ(" ?", Decoded({{90, 8, &real}}));
}

TEST_F(PayloadTest, SizeFromTheSchema) {
  const uint32_t data[] = {1, 2};
  uint64_t fixed = Register(
      {Of(PPI_PAYLOAD_TYPE_UINT32, "a"), Of(PPI_PAYLOAD_TYPE_UINT32, "b")});
  EXPECT_EQ("a=1 b=2", Decoded({{fixed, UINT64_MAX, data}}));
  uint64_t open = Register({Of(PPI_PAYLOAD_TYPE_UINT32, "n"),
                            Of(PPI_PAYLOAD_TYPE_UINT32, "v",
                               PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX, 0)},
                           0, PPI_PAYLOAD_SCHEMA_DYNAMIC);
  EXPECT_EQ(" !", Decoded({{open, UINT64_MAX, data}}));
}

TEST_F(PayloadTest, PointersStayInTheEvent) {
  uint32_t target[] = {42, 43};
  struct {
    const uint32_t *inside;
    const char *text;
    const uint32_t *outside;
    const void *none;
    uint8_t after;
  } data = {target, "copied", nullptr, nullptr, 9};
  data.outside = reinterpret_cast<const uint32_t *>(uintptr_t{16});
  const uint64_t pointer = PPI_PAYLOAD_ENTRY_POINTER;
  uint64_t id = Register({Of(PPI_PAYLOAD_TYPE_UINT32, "inside",
                             pointer | PPI_PAYLOAD_ENTRY_ARRAY_FIXED, 2),
                          Of(PPI_PAYLOAD_TYPE_CSTRING, "text",
                             pointer | PPI_PAYLOAD_ENTRY_DEEP_COPY),
                          Of(PPI_PAYLOAD_TYPE_UINT32, "outside", pointer),
                          Of(PPI_PAYLOAD_TYPE_UINT32, "none", pointer),
                          Of(PPI_PAYLOAD_TYPE_UINT8, "after")});
  EXPECT_EQ("inside[0]=42 inside[1]=43 text='copied' after=9 !",
            Decoded({{id, sizeof data, &data},
                     {PPI_PAYLOAD_TYPE_REFERENCED, sizeof target, target}}));
  // The target's size binds, too.
  EXPECT_EQ("inside[0]=42 text='copied' after=9 !",
            Decoded({{id, sizeof data, &data},
                     {PPI_PAYLOAD_TYPE_REFERENCED, 4, target}}));
}

TEST_F(PayloadTest, Unions) {
  struct {
    uint32_t which;
    union {
      uint32_t number;
      float real;
    } value;
    uint32_t after;
  } data = {1, {}, 3};
  data.value.real = 2.5f;
  uint64_t either = Register({Of(PPI_PAYLOAD_TYPE_UINT32, "number"),
                              Of(PPI_PAYLOAD_TYPE_FLOAT, "real")},
                             kStatic, PPI_PAYLOAD_SCHEMA_UNION);
  uint64_t id =
      Register({Of(PPI_PAYLOAD_TYPE_UINT32, "which"), Of(either, "value", 0, 0),
                Of(PPI_PAYLOAD_TYPE_UINT32, "after")});
  EXPECT_EQ("which=1 value.real=2.5 after=3", Decoded(id, data));
  data.which = 7;
  EXPECT_EQ("which=7 after=3 !", Decoded(id, data));
  uint64_t own = Register({Of(PPI_PAYLOAD_TYPE_SELECTOR, "which"),
                           Of(PPI_PAYLOAD_TYPE_UINT32, "number")},
                          kStatic + 1, PPI_PAYLOAD_SCHEMA_UNION_SELF);
  uint64_t around =
      Register({Of(PPI_PAYLOAD_TYPE_UINT32, "first"), Of(own, "u"),
                Of(PPI_PAYLOAD_TYPE_UINT32, "last", 0, 0, 8)});
  EXPECT_EQ("first=7 last=3 !", Decoded(around, data));
}

TEST_F(PayloadTest, TruncatedDataEndThere) {
  const uint32_t data[] = {1, 2, 3};
  uint64_t id = Register({Of(PPI_PAYLOAD_TYPE_UINT32, "a"),
                          Of(PPI_PAYLOAD_TYPE_UINT32, "b"),
                          Of(PPI_PAYLOAD_TYPE_UINT32, "c")});
  EXPECT_EQ("a=1 b=2 !", Decoded({{id, 11, data}}));
  EXPECT_EQ(" !", Decoded({{id, 3, data}}));
  EXPECT_EQ("", Decoded({{id, 0, data}}));
}

TEST_F(PayloadTest, SchemasThatNestForever) {
  std::vector<Entry> entries(PPI_PAYLOAD_MAX_FIELDS, Of(kStatic, "self"));
  entries[0] = Of(PPI_PAYLOAD_TYPE_UINT8, "x");
  for (size_t i = 1; i < entries.size(); i++) entries[i].offset = 1;
  ASSERT_EQ(kStatic, Register(entries, kStatic));
  const std::vector<unsigned char> data(64, 1);
  std::string said = Decoded({{kStatic, data.size(), data.data()}});
  EXPECT_EQ('!', said.back());
  EXPECT_LT(said.size(), size_t{1} << 20);
}

TEST_F(PayloadTest, LongArraysAreCut) {
  const std::vector<unsigned char> data(100000, 1);
  uint64_t id = Register({Of(PPI_PAYLOAD_TYPE_BYTE, "v",
                             PPI_PAYLOAD_ENTRY_ARRAY_FIXED, data.size())});
  size_t num = 0;
  blobs_ = {{id, data.size(), data.data()}};
  ppi_payload_event event = Event();
  EXPECT_EQ(PPI_PAYLOAD_PARTIAL, ppi_payload_decode(
                                     &event,
                                     [](void *user, const ppi_payload_value *) {
                                       ++*static_cast<size_t *>(user);
                                       return true;
                                     },
                                     &num));
  EXPECT_LE(num, 4096u);
  EXPECT_GT(num, 4000u);
}

TEST_F(PayloadTest, AnImpossibleNumberOfPayloads) {
  const double real = 0.5;
  const ppi_payload_blob blob = {PPI_PAYLOAD_TYPE_DOUBLE, sizeof real, &real};
  const ppi_payload_event event = {schemas_.get(), 1, &blob, SIZE_MAX};
  double bytes;
  EXPECT_EQ(PPI_PAYLOAD_PARTIAL, ppi_payload_decode(
                                     &event,
                                     [](void *, const ppi_payload_value *) {
                                       ADD_FAILURE();
                                       return false;
                                     },
                                     nullptr));
  EXPECT_FALSE(ppi_payload_bytes(&event, &bytes));
}

TEST_F(PayloadTest, WrongRegistrationsAreCounted) {
  EXPECT_EQ(0u, ppi_payload_schema_register(schemas_.get(), 1, nullptr));
  EXPECT_EQ(0u, ppi_payload_enum_register(schemas_.get(), 1, nullptr));
  EXPECT_EQ(0u, Register({}));
  EXPECT_EQ(0u, Register({Of(1, "a")}, 5));                  // not an id of its
  EXPECT_EQ(0u, Register({Of(1, "a")}, uint64_t{1} << 32));  // own choosing
  EXPECT_EQ(0u, Register({Of(1, "a")}, 0, 9));               // no such layout
  EXPECT_EQ(
      0u, Register(std::vector<Entry>(PPI_PAYLOAD_MAX_FIELDS + 1, Of(1, "a"))));
  EXPECT_EQ(7u, schemas_->num_refused);
}

TEST_F(PayloadTest, RegisteringAgain) {
  ASSERT_EQ(kStatic, Register({Of(PPI_PAYLOAD_TYPE_UINT8, "old")}, kStatic));
  const uint64_t used = schemas_->used_bytes;
  for (int i = 0; i < 100000; i++)
    ASSERT_EQ(kStatic, Register({Of(PPI_PAYLOAD_TYPE_UINT8, "old")}, kStatic));
  EXPECT_EQ(used, schemas_->used_bytes);
  ASSERT_EQ(kStatic, Register({Of(PPI_PAYLOAD_TYPE_UINT8, "new")}, kStatic));
  EXPECT_EQ("new=5", Decoded(kStatic, uint8_t{5}));
}

TEST_F(PayloadTest, TheRegistryIsBounded) {
  uint64_t id = 0, last = 0;
  for (int i = 0; i < 20000; i++) {
    id = Register({Of(PPI_PAYLOAD_TYPE_UINT8, "x")});
    if (id) last = id;
  }
  EXPECT_EQ(0u, id);
  EXPECT_GT(schemas_->num_refused, 0u);
  EXPECT_LE(schemas_->used_bytes, uint64_t{PPI_PAYLOAD_SCHEMA_BYTES});
  EXPECT_EQ("x=5", Decoded(last, uint8_t{5}));
}

TEST_F(PayloadTest, ThreadsRegisterAndDecodeAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([this, t] {
      for (uint64_t i = 0; i < 200; i++) {
        const Entry entry = Of(PPI_PAYLOAD_TYPE_UINT32, "v");
        ppi_payload_schema_attributes attributes = {};
        attributes.fields =
            PPI_PAYLOAD_SCHEMA_FIELD_TYPE | PPI_PAYLOAD_SCHEMA_FIELD_ENTRIES |
            PPI_PAYLOAD_SCHEMA_FIELD_NUM_ENTRIES | PPI_PAYLOAD_SCHEMA_FIELD_ID;
        attributes.type = PPI_PAYLOAD_SCHEMA_STATIC;
        attributes.entries = &entry;
        attributes.num_entries = 1;
        attributes.id = kStatic + i;  // the same for all
        ASSERT_EQ(kStatic + i,
                  ppi_payload_schema_register(schemas_.get(), 1, &attributes));
        const uint32_t data = static_cast<uint32_t>(t);
        const ppi_payload_blob blob = {kStatic + i, sizeof data, &data};
        const ppi_payload_event event = {schemas_.get(), 1, &blob, 1};
        uint64_t seen = 99;
        ASSERT_EQ(PPI_PAYLOAD_DECODED,
                  ppi_payload_decode(
                      &event,
                      [](void *user, const ppi_payload_value *value) {
                        *static_cast<uint64_t *>(user) = value->number.u64;
                        return true;
                      },
                      &seen));
        ASSERT_EQ(data, seen);
      }
    });
  for (auto &thread : threads) thread.join();
}

std::vector<Entry> RandomEntries(std::mt19937_64 &random) {
  const uint64_t types[] = {1,  5,  12, 16, 18, 20, 21, 22, 23, 24, 27,
                            32, 33, 45, 50, 68, 75, 76, 77, 78, 80, 100};
  std::vector<Entry> entries(1 + random() % 6);
  for (Entry &entry : entries) {
    entry = Of(types[random() % (sizeof types / sizeof *types)],
               random() % 3 ? "f" : "bytes");
    if (random() % 8 == 0) entry.type = kStatic + random() % 16;
    entry.flags = (random() % 5) << 4;
    if (random() % 8 == 0) entry.flags |= random() & 0xe;
    entry.detail = random() % 4 ? random() % 8 : random();
    if (random() % 6 == 0)
      entry.offset = random() % 3 ? random() % 32 : random();
  }
  return entries;
}

// Random schemas over random data that end at a page nobody may read. The short
// way to the amount of data finds what decoding finds.
TEST_F(PayloadTest, AnyBytesAreSafe) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto *memory = static_cast<unsigned char *>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(MAP_FAILED, memory);
  ASSERT_EQ(0, mprotect(memory + page, page, PROT_NONE));
  std::mt19937_64 random(20240607);
  struct Seen {
    size_t values;
    double bytes;
  } seen = {0, -1};
  size_t amounts = 0;
  for (int round = 0; round < 20000; round++) {
    const std::vector<Entry> entries = RandomEntries(random);
    uint64_t id = kStatic + random() % 16;
    Register(entries, id, 1 + random() % 4, random() % 3 ? 0 : random() % 9);
    size_t size = random() % 96;
    unsigned char *data = memory + page - size;
    for (size_t i = 0; i < size; i++)
      data[i] =
          static_cast<unsigned char>(random() % 4 ? random() % 4 : random());
    blobs_ = {{id, size, data}};
    ppi_payload_event event = Event();
    ppi_payload_decode(
        &event,
        [](void *user, const ppi_payload_value *value) {
          char path[24];
          ppi_payload_value_path(value, path, sizeof path);
          EXPECT_LT(strlen(path), sizeof path);
          auto *to = static_cast<Seen *>(user);
          to->values++;
          if (!value->is_bytes || to->bytes >= 0) return true;
          if (value->kind == PPI_PAYLOAD_VALUE_UNSIGNED)
            to->bytes = static_cast<double>(value->number.u64);
          else if (value->kind == PPI_PAYLOAD_VALUE_SIGNED)
            to->bytes = static_cast<double>(value->number.i64);
          return true;
        },
        &seen);
    double bytes = -1;
    ASSERT_EQ(seen.bytes >= 0, ppi_payload_bytes(&event, &bytes)) << round;
    if (seen.bytes >= 0) {
      ASSERT_EQ(seen.bytes, bytes) << round;
      amounts++;
    }
    seen.bytes = -1;
    if (schemas_->used_bytes > PPI_PAYLOAD_SCHEMA_BYTES - 4096)
      memset(schemas_.get(), 0, sizeof *schemas_);
  }
  EXPECT_GT(seen.values, 10000u);
  EXPECT_GT(amounts, 500u);
  munmap(memory, 2 * page);
}

}  // namespace
