// SPDX-License-Identifier: Apache-2.0
//
// Encodes packets of a Perfetto trace and writes them compressed.
#include "export/perfetto_out.h"

#include <zlib.h>

// The bytes compressed at once; Perfetto requires less than 512 KiB.
enum { GATHERED = 128 << 10, PACKET_TAG = 1 << 3 | 2 };

void ppi_perfetto_encode(ppi_buffer *into, const PpiPerfetto__Packet *packet) {
  size_t len = ppi_perfetto__packet__get_packed_size(packet);
  if (!ppi_buffer_room(into, len + 1 + PPI_VARINT_MAX)) return;
  into->data[into->len++] = PACKET_TAG;
  ppi_buffer_varint(into, len);
  into->len += ppi_perfetto__packet__pack(packet, into->data + into->len);
}

static void write_packed(ppi_perfetto_out *out, size_t len) {
  ppi_buffer bytes = {0};
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  packet.has_compressed_packets = true;
  packet.compressed_packets.data = out->packed.data;
  packet.compressed_packets.len = len;
  ppi_perfetto_encode(&bytes, &packet);
  fwrite(bytes.data, 1, bytes.len, out->file);
  out->raw.failed |= bytes.failed;
  ppi_buffer_clear(&bytes);
}

pprof_status ppi_perfetto_flush(ppi_perfetto_out *out) {
  uLong bound = compressBound(out->raw.len);
  out->packed.len = 0;
  if (out->raw.failed || !ppi_buffer_room(&out->packed, bound))
    return PPROF_STATUS_NO_MEMORY;
  if (!out->raw.len) return PPROF_STATUS_OK;
  uLongf len = bound;
  if (compress2(out->packed.data, &len, out->raw.data, out->raw.len,
                Z_DEFAULT_COMPRESSION) != Z_OK)
    return PPROF_STATUS_NO_MEMORY;
  write_packed(out, len);
  out->raw.len = 0;
  return out->raw.failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

static void flush_if_full(ppi_perfetto_out *out) {
  if (out->raw.len >= GATHERED && ppi_perfetto_flush(out) != PPROF_STATUS_OK)
    out->raw.failed = true;
}

void ppi_perfetto_put(ppi_perfetto_out *out,
                      const PpiPerfetto__Packet *packet) {
  ppi_perfetto_encode(&out->raw, packet);
  flush_if_full(out);
}

void ppi_perfetto_move(ppi_perfetto_out *out, ppi_buffer *from) {
  if (from->len) ppi_buffer_bytes(&out->raw, from->data, from->len);
  out->raw.failed |= from->failed;
  from->len = 0;
  flush_if_full(out);
}

void ppi_perfetto_clear(ppi_perfetto_out *out) {
  ppi_buffer_clear(&out->raw);
  ppi_buffer_clear(&out->packed);
}
