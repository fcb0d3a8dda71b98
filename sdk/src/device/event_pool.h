// SPDX-License-Identifier: Apache-2.0
//
// Passes slots, each with a pair of events, from the collector to marking
// threads. The collector makes the events and hands the slots out in chains. No
// marker waits here, and none creates an event but the first of a pool, before
// the collector knows the pool.
#pragma once

#include "device/device_impl.h"

// ppi_pool_take answers the index + 1 of a slot with events of `pool`, 0: none.
// The caller gives its thread's number; the collector has 0. A thread that uses
// a pool before the collector knows it makes the first events.
uint32_t ppi_pool_take(ppi_device_session *session, uint32_t pool,
                       uint32_t number);
// ppi_pool_next guesses which slot a thread with an empty stock will get.
uint32_t ppi_pool_next(const ppi_device_session *session, uint32_t pool);

// The rest is the collector's. ppi_pools_check finds which pools are gone,
// before anything is asked of their events; it answers a bit for each one that
// has all slots back. ppi_pool_vacate then lets its place be another
// pool's: no anchor or graph may be of it any more.
uint32_t ppi_pools_check(ppi_device_session *session);
void ppi_pool_vacate(ppi_device_session *session, uint32_t pool);
// ppi_pools_reserve puts slots by for what markers make; before the first one.
void ppi_pools_reserve(ppi_device_session *session);
// ppi_pools_fill makes events where slots run low.
void ppi_pools_fill(ppi_device_session *session);
// ppi_pool_give puts back a slot with events at rest; those given are there for
// the markers after ppi_pools_flush.
void ppi_pool_give(ppi_device_session *session, uint32_t index);
void ppi_pools_flush(ppi_device_session *session);
// ppi_pools_release destroys all events.
void ppi_pools_release(ppi_device_session *session);
