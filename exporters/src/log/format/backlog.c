// SPDX-License-Identifier: Apache-2.0
//
// Keeps groups of blocks in one buffer, in their order.
#include "log/format/backlog.h"

size_t ppi_backlog_split(const uint8_t *blocks, size_t len,
                         ppi_staging_block out[PPI_LOG_MAX_GROUP]) {
  size_t num = 0;
  ppi_log_header header;
  while (len > 0 && num < PPI_LOG_MAX_GROUP &&
         ppi_log_header_load(blocks, &header)) {
    size_t size = ppi_log_block_size(&header);
    out[num++] = (ppi_staging_block){blocks, (uint32_t)size, header.number};
    blocks += size;
    len -= size;
  }
  return num;
}

pprof_status ppi_backlog_put(ppi_backlog *backlog, ppi_backlog_stage *stage,
                             void *user, const uint8_t *blocks, size_t len) {
  ppi_buffer *groups = &backlog->groups;
  if (groups->len == 0 && stage(user, blocks, len)) return PPROF_STATUS_OK;
  uint8_t prefix[4];
  ppi_store32(prefix, (uint32_t)len);
  ppi_buffer_bytes(groups, prefix, sizeof prefix);
  ppi_buffer_bytes(groups, blocks, len);
  return groups->failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

void ppi_backlog_drain(ppi_backlog *backlog, ppi_backlog_stage *stage,
                       void *user) {
  while (backlog->drained < backlog->groups.len) {
    const uint8_t *group = backlog->groups.data + backlog->drained;
    size_t len = ppi_load32(group);
    if (!stage(user, group + 4, len)) break;
    backlog->drained += 4 + len;
  }
  // Each byte moves about once.
  if (backlog->drained >= backlog->groups.len - backlog->drained)
    ppi_backlog_rest(backlog);
}

const ppi_buffer *ppi_backlog_rest(ppi_backlog *backlog) {
  ppi_buffer *groups = &backlog->groups;
  if (backlog->drained == 0) return groups;
  groups->len -= backlog->drained;
  memmove(groups->data, groups->data + backlog->drained, groups->len);
  backlog->drained = 0;
  return groups;
}
