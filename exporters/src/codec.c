// SPDX-License-Identifier: Apache-2.0
//
// The codecs, on zlib. Streams are kept and reset, so that a block costs no
// allocation.
#include "codec.h"

#include <string.h>
#include <zlib.h>

#include "mem.h"

struct ppi_codec {
  int level;
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

pprof_status ppi_codec_create(int level, ppi_codec **out) {
  ppi_codec *codec = ppi_alloc(sizeof *codec);
  if (!codec) return PPROF_STATUS_NO_MEMORY;
  codec->level = level;
  codec->deflater.zalloc = codec->inflater.zalloc = allocate;
  codec->deflater.zfree = codec->inflater.zfree = release;
  *out = codec;
  return PPROF_STATUS_OK;
}

void ppi_codec_destroy(ppi_codec *codec) {
  if (!codec) return;
  if (codec->deflating) deflateEnd(&codec->deflater);
  if (codec->inflating) inflateEnd(&codec->inflater);
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

ppi_codec_id ppi_codec_deflate(ppi_codec *codec, const void *bytes, size_t len,
                               void *out, size_t *out_len) {
  if (len > 0 && ready_deflater(codec)) {
    z_stream *z = &codec->deflater;
    z->next_in = (Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)len;
    z->next_out = out;
    z->avail_out = (uInt)len;
    if (deflate(z, Z_FINISH) == Z_STREAM_END && z->avail_out > 0) {
      *out_len = len - z->avail_out;
      return PPI_CODEC_ZLIB;
    }
  }
  if (len > 0) memcpy(out, bytes, len);
  *out_len = len;
  return PPI_CODEC_RAW;
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
      return inflate_zlib(codec, bytes, len, out, raw_len);
    default:
      return PPROF_STATUS_UNSUPPORTED;
  }
}
