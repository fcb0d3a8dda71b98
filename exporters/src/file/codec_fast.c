// SPDX-License-Identifier: Apache-2.0
//
// Calls libisal.so.2 and libdeflate.so.0 by the part of their binary interfaces
// that is needed. A library is used only after zlib has read back what it
// wrote, or it what zlib wrote. One with another interface fails that, and zlib
// serves.
#include "file/codec_fast.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <zlib.h>

#include "base/descriptor.h"
#include "base/mem.h"

// ---- the interfaces ----

// The fields that a caller of igzip sets. Its own state follows, 82 320 bytes
// in version 2.30.
typedef struct igzip_stream {
  const uint8_t *next_in;
  uint32_t avail_in, total_in;
  uint8_t *next_out;
  uint32_t avail_out, total_out;
  void *hufftables;
  uint32_t level, level_buf_size;
  uint8_t *level_buf;
  uint16_t end_of_stream, flush, gzip_flag, hist_bits;
} igzip_stream;

enum {
  IGZIP_STREAM_SIZE = 256 * 1024,
  // Level 1 with room for 16 384 tokens. Each full room becomes a block with
  // codes of its own. Less room makes the log up to 5 % smaller, in up to three
  // times the time.
  IGZIP_LEVEL = 1,
  IGZIP_LEVEL_SIZE = 84 * 1024,
  IGZIP_FORMAT_RAW = 0,
  IGZIP_FORMAT_ZLIB = 3,
  IGZIP_FULL_FLUSH = 2
};

typedef struct igzip {
  igzip_stream stream;
  uint8_t rest[IGZIP_STREAM_SIZE];
  uint8_t level[IGZIP_LEVEL_SIZE];
} igzip;

// The fields of an inflater that are needed, and the size of its codes. Its own
// state ends at 87 368 bytes in version 2.30.
typedef struct igunzip {
  uint8_t *next_out;
  uint32_t avail_out, total_out;
  uint8_t *next_in;
  uint64_t read_in;
  uint32_t avail_in;
  int32_t read_in_len;
  uint8_t codes[21120];
  uint32_t block_state, dict_len, is_last, format;
  uint8_t rest[128 * 1024];
} igunzip;

enum { IGUNZIP_FORMAT_GZIP = 1, IGUNZIP_AT_END = 5 };

static struct {
  void (*stateless_init)(igzip_stream *);
  int (*stateless)(igzip_stream *);
  void (*inflate_init)(igunzip *);
  void (*inflate_reset)(igunzip *);
  int (*inflate)(igunzip *);
  uint32_t (*crc32)(uint32_t before, const unsigned char *, uint64_t len);
} isal;

static struct {
  void *(*alloc_compressor)(int level);
  size_t (*compress)(void *, const void *in, size_t in_len, void *out,
                     size_t room);
  void (*free_compressor)(void *);
  void *(*alloc_decompressor)(void);
  int (*decompress)(void *, const void *in, size_t in_len, void *out,
                    size_t out_len, size_t *in_done, size_t *out_done);
  void (*free_decompressor)(void *);
  uint32_t (*adler32)(uint32_t before, const void *, size_t len);
} deflate_;

typedef struct symbol {
  const char *name;
  void *place;
} symbol;

static bool load(const char *soname, const symbol *symbols, size_t num) {
  unsigned standing = ppi_fd_stand_in();
  void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  ppi_fd_stand_down(standing);
  if (!library) return false;
  for (size_t i = 0; i < num; i++) {
    void *found = dlsym(library, symbols[i].name);
    if (!found) {
      dlclose(library);
      return false;
    }
    memcpy(symbols[i].place, &found, sizeof found);
  }
  return true;
}

static bool load_isal(void) {
  const symbol symbols[] = {
      {"isal_deflate_stateless_init", &isal.stateless_init},
      {"isal_deflate_stateless", &isal.stateless},
      {"isal_inflate_init", &isal.inflate_init},
      {"isal_inflate_reset", &isal.inflate_reset},
      {"isal_inflate", &isal.inflate},
      {"crc32_gzip_refl", &isal.crc32}};
  return load("libisal.so.2", symbols, sizeof symbols / sizeof *symbols);
}

static bool load_libdeflate(void) {
  const symbol symbols[] = {
      {"libdeflate_alloc_compressor", &deflate_.alloc_compressor},
      {"libdeflate_zlib_compress", &deflate_.compress},
      {"libdeflate_free_compressor", &deflate_.free_compressor},
      {"libdeflate_alloc_decompressor", &deflate_.alloc_decompressor},
      {"libdeflate_zlib_decompress_ex", &deflate_.decompress},
      {"libdeflate_free_decompressor", &deflate_.free_decompressor},
      {"libdeflate_adler32", &deflate_.adler32}};
  return load("libdeflate.so.0", symbols, sizeof symbols / sizeof *symbols);
}

// ---- deflating ----

void *ppi_fast_deflater_create(ppi_codec_library library, int level) {
  return library == PPI_CODEC_IGZIP ? ppi_alloc(sizeof(igzip))
                                    : deflate_.alloc_compressor(level);
}

void ppi_fast_deflater_destroy(ppi_codec_library library, void *deflater) {
  if (library == PPI_CODEC_IGZIP)
    ppi_free(deflater);
  else if (deflater)
    deflate_.free_compressor(deflater);
}

static size_t igzip_deflate(igzip *state, bool is_part, const void *bytes,
                            size_t len, void *out, size_t room) {
  igzip_stream *stream = &state->stream;
  isal.stateless_init(stream);
  stream->level = IGZIP_LEVEL;
  stream->level_buf = state->level;
  stream->level_buf_size = sizeof state->level;
  stream->gzip_flag = is_part ? IGZIP_FORMAT_RAW : IGZIP_FORMAT_ZLIB;
  stream->flush = is_part ? IGZIP_FULL_FLUSH : 0;
  stream->end_of_stream = !is_part;
  stream->next_in = bytes;
  stream->avail_in = (uint32_t)len;
  stream->next_out = out;
  stream->avail_out = (uint32_t)room;
  bool whole = isal.stateless(stream) == 0 && stream->avail_in == 0;
  return whole ? stream->total_out : 0;
}

size_t ppi_fast_deflate(ppi_codec_library library, void *deflater,
                        const void *bytes, size_t len, void *out, size_t room) {
  return library == PPI_CODEC_IGZIP
             ? igzip_deflate(deflater, false, bytes, len, out, room)
             : deflate_.compress(deflater, bytes, len, out, room);
}

size_t ppi_fast_deflate_part(void *deflater, const void *bytes, size_t len,
                             void *out, size_t room) {
  return igzip_deflate(deflater, true, bytes, len, out, room);
}

// ---- inflating ----

void *ppi_fast_inflater_create(void) {
  return deflate_.alloc_decompressor();
}

void ppi_fast_inflater_destroy(void *inflater) {
  if (inflater) deflate_.free_decompressor(inflater);
}

bool ppi_fast_inflate(void *inflater, const void *bytes, size_t len, void *out,
                      size_t raw_len) {
  size_t done;
  // Without an out parameter for it, the length must be exact.
  return deflate_.decompress(inflater, bytes, len, out, raw_len, &done, NULL) ==
             0 &&
         done == len;
}

static igunzip *new_gunzip(void) {
  igunzip *gunzip = ppi_alloc(sizeof *gunzip);
  if (!gunzip) return NULL;
  isal.inflate_init(gunzip);
  gunzip->format = IGUNZIP_FORMAT_GZIP;
  return gunzip;
}

void ppi_fast_gunzip_destroy(void *gunzip) {
  ppi_free(gunzip);
}

int ppi_fast_gunzip(void *gunzip, z_stream *stream) {
  igunzip *state = gunzip;
  state->next_in = (uint8_t *)stream->next_in;
  state->avail_in = stream->avail_in;
  state->next_out = stream->next_out;
  state->avail_out = stream->avail_out;
  int answer = isal.inflate(state);
  bool moved = state->avail_in != stream->avail_in ||
               state->avail_out != stream->avail_out;
  stream->next_in = state->next_in;
  stream->avail_in = state->avail_in;
  stream->next_out = state->next_out;
  stream->avail_out = state->avail_out;
  if (answer < 0) return Z_DATA_ERROR;
  if (state->block_state == IGUNZIP_AT_END) return Z_STREAM_END;
  return moved ? Z_OK : Z_BUF_ERROR;
}

void ppi_fast_gunzip_reset(void *gunzip) {
  isal.inflate_reset(gunzip);
}

// ---- which are there ----

enum { PROBE_LEN = 2048 };

// Alternates runs of equal bytes with random ones.
static void fill_probe(uint8_t out[PROBE_LEN]) {
  uint32_t random = 1;
  for (size_t i = 0; i < PROBE_LEN; i++) {
    random = random * 1103515245u + 12345u;
    out[i] = (uint8_t)(i % 512 < 128 ? i / 16 : random >> 16 & 0x3f);
  }
}

static bool writes(ppi_codec_library library) {
  uint8_t in[PROBE_LEN], stored[PROBE_LEN], back[PROBE_LEN];
  void *deflater = ppi_fast_deflater_create(library, 1);
  if (!deflater) return false;
  fill_probe(in);
  size_t len =
      ppi_fast_deflate(library, deflater, in, sizeof in, stored, sizeof stored);
  ppi_fast_deflater_destroy(library, deflater);
  uLongf back_len = sizeof back;
  return len > 0 && len <= sizeof stored &&
         uncompress(back, &back_len, stored, (uLong)len) == Z_OK &&
         back_len == sizeof in && memcmp(back, in, sizeof in) == 0;
}

// Writes two parts and an empty last block.
static bool writes_parts(void) {
  uint8_t in[PROBE_LEN], stored[PROBE_LEN], back[PROBE_LEN];
  size_t half = PROBE_LEN / 2, len = 0;
  void *deflater = ppi_fast_deflater_create(PPI_CODEC_IGZIP, 1);
  if (!deflater) return false;
  fill_probe(in);
  for (int i = 0; i < 2; i++)
    len += ppi_fast_deflate_part(deflater, in + (i ? half : 0), half,
                                 stored + len, sizeof stored - len - 2);
  ppi_fast_deflater_destroy(PPI_CODEC_IGZIP, deflater);
  memcpy(stored + len, "\3", 2);
  z_stream stream = {.next_in = stored,
                     .avail_in = (uInt)len + 2,
                     .next_out = back,
                     .avail_out = sizeof back};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  bool ends = inflate(&stream, Z_FINISH) == Z_STREAM_END;
  inflateEnd(&stream);
  return ends && stream.avail_out == 0 && memcmp(back, in, sizeof in) == 0;
}

// Sums two halves.
static bool sums_crc32(void) {
  uint8_t in[PROBE_LEN];
  size_t half = PROBE_LEN / 2;
  fill_probe(in);
  return isal.crc32(isal.crc32(0, in, half), in + half, half) ==
         crc32(0, in, sizeof in);
}

static bool sums_adler32(void) {
  uint8_t in[PROBE_LEN];
  size_t half = PROBE_LEN / 2;
  fill_probe(in);
  return deflate_.adler32(deflate_.adler32(1, in, half), in + half, half) ==
         adler32(1, in, sizeof in);
}

static bool reads(void) {
  uint8_t in[PROBE_LEN], stored[PROBE_LEN], back[PROBE_LEN];
  uLongf len = sizeof stored;
  void *inflater = ppi_fast_inflater_create();
  if (!inflater) return false;
  fill_probe(in);
  bool same = compress2(stored, &len, in, sizeof in, 1) == Z_OK &&
              ppi_fast_inflate(inflater, stored, len, back, sizeof back) &&
              memcmp(back, in, sizeof in) == 0;
  ppi_fast_inflater_destroy(inflater);
  return same;
}

// Deflates a member of gzip by zlib. Answers its length; 0: it failed.
static size_t make_member(const uint8_t *in, uint8_t *out, size_t room) {
  z_stream stream = {.next_in = (uint8_t *)in,
                     .avail_in = PROBE_LEN,
                     .next_out = out,
                     .avail_out = (uInt)room};
  if (deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return 0;
  bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  deflateEnd(&stream);
  return is_whole ? stream.total_out : 0;
}

// Reads two members in one piece, and refuses a wrong checksum.
static bool gunzips(void) {
  uint8_t in[PROBE_LEN], stored[2 * PROBE_LEN], back[PROBE_LEN];
  fill_probe(in);
  size_t len = make_member(in, stored, PROBE_LEN);
  igunzip *gunzip = len ? new_gunzip() : NULL;
  bool is_right = gunzip != NULL;
  memcpy(stored + len, stored, len);
  if (len) stored[2 * len - 8] ^= 1;
  z_stream stream = {.next_in = stored, .avail_in = (uInt)(2 * len)};
  for (int i = 0; i < 2 && is_right; i++) {
    memset(back, 0, sizeof back);
    stream.next_out = back;
    stream.avail_out = sizeof back;
    is_right =
        ppi_fast_gunzip(gunzip, &stream) == (i ? Z_DATA_ERROR : Z_STREAM_END) &&
        memcmp(back, in, sizeof in) == 0 && (i || stream.avail_in == len);
    ppi_fast_gunzip_reset(gunzip);
  }
  ppi_free(gunzip);
  return is_right;
}

static bool have_igzip, have_parts, have_libdeflate, have_crc32, have_adler32,
    have_gunzip;

static void look(void) {
  bool has_isal = load_isal(), has_libdeflate = load_libdeflate();
  have_igzip = has_isal && writes(PPI_CODEC_IGZIP);
  have_parts = have_igzip && writes_parts();
  have_libdeflate = has_libdeflate && writes(PPI_CODEC_LIBDEFLATE) && reads();
  have_gunzip = has_isal && gunzips();
  have_crc32 = has_isal && sums_crc32();
  have_adler32 = has_libdeflate && sums_adler32();
}

static void look_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, look);
}

ppi_codec_library ppi_fast_deflating(ppi_codec_library limit) {
  if (limit == PPI_CODEC_ZLIB_ONLY) return limit;
  look_once();
  if (have_igzip && limit == PPI_CODEC_IGZIP) return PPI_CODEC_IGZIP;
  return have_libdeflate ? PPI_CODEC_LIBDEFLATE : PPI_CODEC_ZLIB_ONLY;
}

bool ppi_fast_has_parts(ppi_codec_library limit) {
  return ppi_fast_deflating(limit) == PPI_CODEC_IGZIP && have_parts;
}

void *ppi_fast_gunzip_create(void) {
  look_once();
  return have_gunzip ? new_gunzip() : NULL;
}

ppi_codec_library ppi_fast_inflating(ppi_codec_library limit) {
  if (limit == PPI_CODEC_ZLIB_ONLY) return limit;
  look_once();
  return have_libdeflate ? PPI_CODEC_LIBDEFLATE : PPI_CODEC_ZLIB_ONLY;
}

uint32_t ppi_fast_crc32(uint32_t before, const void *bytes, size_t len) {
  look_once();
  return have_crc32 ? isal.crc32(before, bytes, len)
                    : (uint32_t)crc32(before, bytes, (uInt)len);
}

uint32_t ppi_fast_adler32(uint32_t before, const void *bytes, size_t len) {
  look_once();
  return have_adler32 ? deflate_.adler32(before, bytes, len)
                      : (uint32_t)adler32(before, bytes, (uInt)len);
}
