// SPDX-License-Identifier: Apache-2.0
//
// Runs the codecs on the fastest library present, or on zlib. Streams are kept
// and reset, so that a block costs no allocation.
#include "log/format/codec.h"

#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "log/format/codec_literals.h"

struct ppi_codec {
  int level;
  ppi_codec_library writer;
  void *fast_deflater;  // of `writer`; NULL: zlib
  void *fast_inflater;  // NULL: zlib
  bool deflating, inflating;
  z_stream deflater, inflater;
};

static void *allocate(void *opaque, uInt items, uInt size) {
  (void)opaque;
  return ppi_alloc((size_t)items * size);
}

static void release(void *opaque, void *memory) {
  (void)opaque;
  ppi_free(memory);
}

static _Atomic int most = PPI_CODEC_IGZIP;

static ppi_codec_library allowed(void) {
  return (ppi_codec_library)atomic_load_explicit(&most, memory_order_relaxed);
}

void ppi_codec_limit(ppi_codec_library limit) {
  atomic_store_explicit(&most, (int)limit, memory_order_relaxed);
}

const char *ppi_codec_writer(void) {
  static const char *const names[] = {[PPI_CODEC_ZLIB_ONLY] = "zlib",
                                      [PPI_CODEC_LIBDEFLATE] = "libdeflate",
                                      [PPI_CODEC_IGZIP] = "igzip"};
  return names[ppi_fast_deflating(allowed())];
}

pprof_status ppi_codec_create(int level, ppi_codec **out) {
  ppi_codec *codec = ppi_alloc(sizeof *codec);
  if (!codec) return PPROF_STATUS_NO_MEMORY;
  codec->level = level;
  codec->writer = ppi_fast_deflating(allowed());
  codec->deflater.zalloc = codec->inflater.zalloc = allocate;
  codec->deflater.zfree = codec->inflater.zfree = release;
  *out = codec;
  return PPROF_STATUS_OK;
}

void ppi_codec_destroy(ppi_codec *codec) {
  if (!codec) return;
  if (codec->deflating) deflateEnd(&codec->deflater);
  if (codec->inflating) inflateEnd(&codec->inflater);
  ppi_fast_deflater_destroy(codec->writer, codec->fast_deflater);
  ppi_fast_inflater_destroy(codec->fast_inflater);
  ppi_free(codec);
}

static bool ready_deflater(ppi_codec *codec) {
  if (codec->deflating) return deflateReset(&codec->deflater) == Z_OK;
  codec->deflating = deflateInit(&codec->deflater, codec->level) == Z_OK;
  return codec->deflating;
}

static bool ready_inflater(ppi_codec *codec) {
  if (codec->inflating) return inflateReset(&codec->inflater) == Z_OK;
  codec->inflating = inflateInit(&codec->inflater) == Z_OK;
  return codec->inflating;
}

static size_t deflate_zlib(ppi_codec *codec, const void *bytes, size_t len,
                           void *out, size_t room) {
  if (!ready_deflater(codec)) return 0;
  z_stream *z = &codec->deflater;
  z->next_in = (Bytef *)(uintptr_t)bytes;
  z->avail_in = (uInt)len;
  z->next_out = out;
  z->avail_out = (uInt)room;
  return deflate(z, Z_FINISH) == Z_STREAM_END ? room - z->avail_out : 0;
}

// If the fast library finds no memory for its state, zlib may still find some.
static bool ready_fast_deflater(ppi_codec *codec) {
  if (codec->writer == PPI_CODEC_ZLIB_ONLY) return false;
  if (!codec->fast_deflater)
    codec->fast_deflater =
        ppi_fast_deflater_create(codec->writer, codec->level);
  if (!codec->fast_deflater) codec->writer = PPI_CODEC_ZLIB_ONLY;
  return codec->fast_deflater != NULL;
}

ppi_codec_id ppi_codec_deflate(ppi_codec *codec, const void *bytes, size_t len,
                               void *out, size_t *out_len) {
  if (len > 1) {
    *out_len = ready_fast_deflater(codec)
                   ? ppi_fast_deflate(codec->writer, codec->fast_deflater,
                                      bytes, len, out, len - 1)
                   : deflate_zlib(codec, bytes, len, out, len - 1);
    if (*out_len > 0) return PPI_CODEC_ZLIB;
  }
  if (len > 0) memcpy(out, bytes, len);
  *out_len = len;
  return PPI_CODEC_RAW;
}

ppi_codec_id ppi_codec_deflate_parts(ppi_codec *codec, const void *bytes,
                                     const size_t *lens, size_t num_parts,
                                     void *out, size_t *out_len) {
  size_t len = 0;
  for (size_t i = 0; i < num_parts; i++) len += lens[i];
  *out_len = ppi_literals_deflate(bytes, lens, num_parts, out, len);
  return *out_len > 0 ? PPI_CODEC_ZLIB
                      : ppi_codec_deflate(codec, bytes, len, out, out_len);
}

static bool ready_fast_inflater(ppi_codec *codec) {
  if (codec->inflating) return false;
  if (!codec->fast_inflater &&
      ppi_fast_inflating(allowed()) == PPI_CODEC_LIBDEFLATE)
    codec->fast_inflater = ppi_fast_inflater_create();
  return codec->fast_inflater != NULL;
}

static pprof_status inflate_zlib(ppi_codec *codec, const void *bytes,
                                 size_t len, void *out, size_t raw_len) {
  if (!ready_inflater(codec)) return PPROF_STATUS_NO_MEMORY;
  z_stream *z = &codec->inflater;
  z->next_in = (Bytef *)(uintptr_t)bytes;
  z->avail_in = (uInt)len;
  z->next_out = out;
  z->avail_out = (uInt)raw_len;
  bool whole = inflate(z, Z_FINISH) == Z_STREAM_END && z->avail_in == 0 &&
               z->avail_out == 0;
  return whole ? PPROF_STATUS_OK : PPROF_STATUS_CORRUPT;
}

pprof_status ppi_codec_inflate(ppi_codec *codec, unsigned id, const void *bytes,
                               size_t len, void *out, size_t raw_len) {
  switch (id) {
    case PPI_CODEC_RAW:
      if (len != raw_len) return PPROF_STATUS_CORRUPT;
      if (len > 0) memcpy(out, bytes, len);
      return PPROF_STATUS_OK;
    case PPI_CODEC_ZLIB:
      if (ready_fast_inflater(codec))
        return ppi_fast_inflate(codec->fast_inflater, bytes, len, out, raw_len)
                   ? PPROF_STATUS_OK
                   : PPROF_STATUS_CORRUPT;
      return inflate_zlib(codec, bytes, len, out, raw_len);
    default:
      return PPROF_STATUS_UNSUPPORTED;
  }
}
