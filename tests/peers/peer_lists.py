# SPDX-License-Identifier: Apache-2.0
"""The peers by name: what to install, and who compares."""
import collections

import peer_cost
import peer_fleet
import peer_hta
import peer_jobs
import peer_nodes
import peer_paddle
import peer_samplers
import peer_servers
import peer_spark
import peer_tables
import peer_torch
import peer_traces
import peer_viewers

Entry = collections.namedtuple("Entry", "packages compare python")


def entry(packages, compare, python=None):
    """`python`: whose environment it has, where that is another peer's."""
    return Entry(packages, compare, python)


PEERS = {
    "paddle": entry(peer_paddle.PACKAGES, peer_paddle.compare),
    "torch": entry(peer_torch.PACKAGES, peer_torch.compare),
    "hta": entry(peer_hta.PACKAGES, peer_hta.compare),
    "cost": entry(peer_cost.PACKAGES, peer_cost.compare),
    **{name: entry(packages, compare, python)
       for name, (packages, compare, python) in {**peer_traces.PEERS,
                                                 **peer_samplers.PEERS}.items()},
    "nodes": entry(peer_nodes.PACKAGES, peer_nodes.compare, "onnxruntime"),
    "fleet": entry(peer_fleet.PACKAGES, peer_fleet.compare),
    "spark": entry(peer_spark.PACKAGES, peer_spark.compare),
    **{name: entry(*both) for name, both in peer_jobs.PEERS.items()},
    **{name: entry(packages, compare)
       for name, (packages, compare) in peer_servers.PEERS.items()},
    "tables": entry(peer_tables.PACKAGES, peer_tables.compare),
    **{name: entry(packages, compare, python)
       for name, (packages, compare, python) in peer_viewers.PEERS.items()},
}
