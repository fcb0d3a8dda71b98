// SPDX-License-Identifier: Apache-2.0
//
// Any schemas over any payloads, as NVTX calls bring them. What a program can
// only promise (that the text of a deep copy ends, that a payload is as long as
// its schema, when it does not say) is not in here: nobody can check it.
//
// An input is a stream of bytes, 0 where it is over:
//   u8 types, each: u8 form (0..3: a structure of that layout, 4: an
//     enumeration, else of no layout), u8 id, u8 pack, u8 static size (0:
//     none), u8 items, each item
//     of an enumeration: u8 value
//     of a structure: u8 type, u16 flags, number detail, number offset, u8 name
//   u8 payloads, each: u8 type, u16 size
//   u8 pointers, each: u16 where in the data, u16 to where in them
//   the data of the payloads, one behind the other.
// A type or id: below 128 predefined, else an id of the program's, with 64 of
// ours. A number: below 250 itself, else the eight bytes behind it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "fuzz.h"
#include "payload.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/payload";

namespace {

// tests/nvtx/abi_test.cc compares the rest with NVTX's own headers.
static_assert(sizeof(ppi_payload_blob) == 24);
static_assert(sizeof(ppi_payload_schema_entry) == 64);
static_assert(sizeof(ppi_payload_schema_attributes) == 80);

constexpr size_t kMostData = 4096;
constexpr uint32_t kMostValues = 4096;  // as payload.h says

class Input {
 public:
  Input(const uint8_t *data, size_t size) : at_(data), left_(size) {}
  uint64_t Take(size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && left_ > 0; i++, left_--)
      value |= static_cast<uint64_t>(*at_++) << 8 * i;
    return value;
  }
  uint64_t Number() {
    const uint64_t value = Take(1);
    return value < 250 ? value : Take(8);
  }
  uint64_t Type() {
    const uint64_t value = Take(1);
    if (value < 128) return value;
    return (value & 64 ? PPI_PAYLOAD_DYNAMIC_ID_FIRST
                       : PPI_PAYLOAD_STATIC_ID_FIRST) +
           value % 16;
  }
  const uint8_t *rest() const {
    return at_;
  }
  size_t left() const {
    return left_;
  }

 private:
  const uint8_t *at_;
  size_t left_;
};

// Its last byte is in front of one that nobody may read.
class Room {
 public:
  Room() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = (kMostData + page - 1) / page * page;
    void *memory = mmap(nullptr, size_ + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(memory != MAP_FAILED, "no memory");
    base_ = static_cast<uint8_t *>(memory);
    Require(mprotect(base_ + size_, page, PROT_NONE) == 0, "no guard");
  }
  uint8_t *Last(size_t num) {
    return base_ + size_ - num;
  }

 private:
  uint8_t *base_;
  size_t size_;
};

// One that was used before, as good as new.
ppi_payload_schemas *NoSchemas() {
  static auto *schemas = new ppi_payload_schemas;
  schemas->used_bytes = schemas->num_dynamic = schemas->num_refused = 0;
  memset(schemas->slots, 0, sizeof schemas->slots);
  return schemas;
}

const char *NameOf(uint64_t number) {
  static const std::string kLong(300, 'n');
  static const char *const names[] = {
      nullptr, "", "bytes", "message size", "f", "\x1b[31m", kLong.c_str()};
  return names[number % (sizeof names / sizeof *names)];
}

void RegisterEnum(ppi_payload_schemas *schemas, Input *in, uint64_t id,
                  uint64_t size) {
  std::vector<ppi_payload_enumerator> items(in->Take(1));
  for (ppi_payload_enumerator &item : items) {
    item.value = in->Take(1);
    item.name = NameOf(item.value);
    item.is_flag = 0;
  }
  ppi_payload_enum_attributes attributes = {};
  attributes.fields = PPI_PAYLOAD_ENUM_FIELD_ENTRIES |
                      PPI_PAYLOAD_ENUM_FIELD_NUM_ENTRIES |
                      PPI_PAYLOAD_ENUM_FIELD_SIZE | PPI_PAYLOAD_ENUM_FIELD_ID;
  attributes.entries = items.data();
  attributes.num_entries = items.size();
  attributes.size = size;
  attributes.id = id;
  ppi_payload_enum_register(schemas, 1, &attributes);
}

// Units in every second one that has a name.
void FillEntry(Input *in, ppi_payload_schema_entry *out,
               ppi_payload_counter_semantics *unit) {
  out->type = in->Type();
  out->flags = in->Take(2) & ~uint64_t{PPI_PAYLOAD_ENTRY_DEEP_COPY};
  out->detail = in->Number();
  out->offset = in->Number();
  const uint64_t name = in->Take(1);
  out->name = NameOf(name);
  unit->header.struct_size = sizeof *unit;
  unit->header.id = PPI_PAYLOAD_SEMANTICS_COUNTER;
  unit->unit = name & 64 ? "B" : "frames";
  unit->scale_numerator = name;
  unit->scale_denominator = 3;
  if (name & 128) out->semantics = &unit->header;
}

void RegisterStruct(ppi_payload_schemas *schemas, Input *in,
                    ppi_payload_schema_attributes *attributes) {
  std::vector<ppi_payload_schema_entry> entries(in->Take(1));
  std::vector<ppi_payload_counter_semantics> units(entries.size());
  for (size_t i = 0; i < entries.size(); i++)
    FillEntry(in, &entries[i], &units[i]);
  attributes->entries = entries.data();
  attributes->num_entries = entries.size();
  ppi_payload_schema_register(schemas, 1, attributes);
}

void Register(ppi_payload_schemas *schemas, Input *in) {
  const uint64_t form = in->Take(1), id = in->Type(), pack = in->Take(1);
  const uint64_t size = in->Take(1);
  // An id of ours: one is to be chosen.
  const uint64_t own = id < PPI_PAYLOAD_DYNAMIC_ID_FIRST ? id : 0;
  if (form == 4) {
    RegisterEnum(schemas, in, own, size);
    return;
  }
  ppi_payload_schema_attributes attributes = {};
  attributes.fields =
      PPI_PAYLOAD_SCHEMA_FIELD_TYPE | PPI_PAYLOAD_SCHEMA_FIELD_ENTRIES |
      PPI_PAYLOAD_SCHEMA_FIELD_NUM_ENTRIES | PPI_PAYLOAD_SCHEMA_FIELD_ID |
      (pack ? PPI_PAYLOAD_SCHEMA_FIELD_PACK_ALIGN : 0) |
      (size ? PPI_PAYLOAD_SCHEMA_FIELD_STATIC_SIZE : 0);
  attributes.type = form + 1;
  attributes.pack_align = pack;
  attributes.static_size = size;
  attributes.id = own;
  RegisterStruct(schemas, in, &attributes);
}

// What decoding told of, and where it may come from.
struct Told {
  const uint8_t *begin, *end;
  uint32_t num;
  double bytes;
};

bool Look(void *user, const ppi_payload_value *value) {
  auto *told = static_cast<Told *>(user);
  char path[40];
  memset(path, 'x', sizeof path);
  Require(ppi_payload_value_path(value, path, sizeof path - 1) == path &&
              memchr(path, 0, sizeof path - 1) && path[sizeof path - 1] == 'x',
          "a path beyond its end");
  Require(value->kind <= PPI_PAYLOAD_VALUE_OPAQUE && value->name,
          "a value that is none");
  if (value->kind == PPI_PAYLOAD_VALUE_TEXT) {
    const auto *text = static_cast<const uint8_t *>(value->text);
    Require(value->char_bytes && text >= told->begin && text <= told->end &&
                value->len <=
                    static_cast<size_t>(told->end - text) / value->char_bytes,
            "a text from elsewhere");
  }
  Require(++told->num <= kMostValues, "values without end");
  if (!value->is_bytes || told->bytes >= 0) return true;
  if (value->kind == PPI_PAYLOAD_VALUE_UNSIGNED)
    told->bytes = static_cast<double>(value->number.u64) * value->scale;
  else if (value->kind == PPI_PAYLOAD_VALUE_SIGNED && value->number.i64 >= 0)
    told->bytes = static_cast<double>(value->number.i64) * value->scale;
  return true;
}

void Check(const ppi_payload_event &event, const uint8_t *data, size_t size) {
  Told told = {data, data + size, 0, -1};
  const ppi_payload_decoded result = ppi_payload_decode(&event, Look, &told);
  Require(result <= PPI_PAYLOAD_UNKNOWN, "a result that is none");
  double bytes = -1;
  Require(ppi_payload_bytes(&event, &bytes) == (told.bytes >= 0) &&
              bytes == told.bytes,
          "the short way finds another amount of data");
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::Room room;
  fuzz::Input in(data, size);
  ppi_payload_schemas *schemas = fuzz::NoSchemas();
  for (uint64_t n = in.Take(1) % 16; n > 0; n--) fuzz::Register(schemas, &in);
  fuzz::Require(schemas->used_bytes <= PPI_PAYLOAD_SCHEMA_BYTES, "no bound");
  std::vector<ppi_payload_blob> payloads(in.Take(1) % 8);
  for (ppi_payload_blob &payload : payloads)
    payload = {in.Type(), in.Take(2), nullptr};
  std::vector<uint64_t> pointers(in.Take(1) % 8);
  for (uint64_t &pointer : pointers) pointer = in.Take(4);
  const size_t num = in.left() < fuzz::kMostData ? in.left() : fuzz::kMostData;
  uint8_t *bytes = room.Last(num);
  if (num) memcpy(bytes, in.rest(), num);
  for (uint64_t pointer : pointers) {
    const uint8_t *to = bytes + (num ? (pointer >> 16) % num : 0);
    const size_t from = pointer % 65536;
    if (from + sizeof to <= num) memcpy(bytes + from, &to, sizeof to);
  }
  size_t used = 0;
  for (ppi_payload_blob &payload : payloads) {
    payload.size = payload.size < num - used ? payload.size : num - used;
    payload.bytes = bytes + used;
    used += payload.size;
  }
  fuzz::Check({schemas, 1, payloads.data(), payloads.size()}, bytes, num);
  return 0;
}
