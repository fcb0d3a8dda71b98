# SPDX-License-Identifier: Apache-2.0
"""What limits a program, by running it again: each of its times halved, with the same random
numbers. Nothing here knows how a program was built."""
import glob
import hashlib
import json
import os

import topologies
import topologies_loops  # noqa: F401 (its rows)
import topologies_more  # noqa: F401
import topologies_wild  # noqa: F401
import topologies_found  # noqa: F401 (last: variants of the others stay)
import variants
from world import HIDDEN, World

RIGHT = 0.6   # of the best gain
WORTH = 0.25  # of it: advice that brings less is false
LEAST = {False: 0.03, True: 0.05}  # a rate's gain that is none; by whether arrivals set the rate
NEAR = 0.01  # to it: a gain and none are both right
WAITING = 0.2  # of the latency: an open program that waits less is healthy
ALL = topologies.ALL


def world_of(name, seed, change=None, variant=None, late=True):
    world = World(name, seed, change)
    ALL[name][1](world)
    if variant:
        {**variants.ALL, **variants.RECORDED}[variant](world)
    if not late:
        world.kernel.late = 0
    return world.run()


def figures(world):
    """(rate, mean latency, P99, part of the latency that is waiting)."""
    ended = [unit for unit in world.units if unit.end is not None]
    spans = sorted(unit.end - unit.begin for unit in ended)
    length = max(unit.end for unit in ended) - min(unit.begin for unit in ended)
    work = sum(min(unit.work, unit.end - unit.begin) for unit in ended)
    return (len(ended) / length, sum(spans) / len(spans), spans[int(len(spans) * 0.99)],
            1 - work / sum(spans))


def gains_of(name, seed, world, variant=None):
    """{time: (what its halving adds to the rate, takes from the mean latency, from its P99)}."""
    rate, mean, p99, _ = figures(world)
    gains = {}
    for target in [*world.times, *world.resources]:
        halved = figures(world_of(name, seed, {target: 0.5}, variant))
        gains[target] = (halved[0] / rate - 1, 1 - halved[1] / mean, 1 - halved[2] / p99)
    return gains


def stage_gains(name, seed, world, variant=None):
    """The same of ranges that consist of several times: all of these halved."""
    rate, mean, p99, _ = figures(world)
    gains = {}
    for stage, parts in world.alias.items():
        parts = [part for part in parts if part in world.times]
        if len(parts) < 2 or stage in world.times:
            continue
        halved = figures(world_of(name, seed, dict.fromkeys(parts, 0.5), variant))
        gains[stage] = (halved[0] / rate - 1, 1 - halved[1] / mean, 1 - halved[2] / p99)
    return gains


def judge(world, gains, waiting, least=None, stages=None):
    """`stages` are gains of whole ranges, against the best of single times. {right: names, worth: names whose change is no false advice, healthy, by}. More of what all
    share may be right beside the best of the times."""
    by, every = {}, {**(stages or {}), **gains}
    times = {name: gain for name, gain in gains.items() if name not in world.resources}
    best = max(gain[0] for gain in times.values())
    least = least or LEAST[world.open]
    if best >= least - (0 if world.open else NEAR):
        by["rate"] = {name: gain[0] / best for name, gain in every.items()}
    elif world.open:
        for number, figure in ((1, "mean"), (2, "P99")):
            most = max(gain[number] for gain in times.values())
            if most >= LEAST[True]:
                by[figure] = {name: gain[number] / most for name, gain in every.items()}
    healthy = best < least + NEAR and not world.open or (
        world.open and "rate" not in by and waiting < WAITING)

    def those(least):
        return sorted({name for shares in by.values() for name, share in shares.items()
                       if share >= least})
    return {"right": those(RIGHT), "worth": those(WORTH), "healthy": healthy, "by": sorted(by)}


def sources():
    """A hash of the generator, so that kept traces are never of another version."""
    code = hashlib.sha256()
    folder = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(folder, "*.py"))):
        if os.path.basename(path) in ("kernel.py", "world.py", "topologies.py",
                                      "topologies_loops.py", "topologies_more.py", "topologies_wild.py",
                                      "topologies_found.py", "trace.py", "truth.py", "variants.py"):
            with open(path, "rb") as file:
                code.update(file.read())
    return code.hexdigest()[:16]


def case_of(name, seed, variant=None):
    """The world and its true causes, by the names in its trace."""
    world = world_of(name, seed, None, variant)
    gains = gains_of(name, seed, world, variant)
    stages = stage_gains(name, seed, world, variant)
    # Waking up late is no line in front of a stage.
    waiting = figures(world_of(name, seed, None, variant, False) if world.kernel.late else world)[3]
    devices = {device: sorted({one[1] for one in world.ranges if isinstance(one[6], tuple)
                               and world.streams[one[6][0] - 1].device == number})
               for number, (device, _) in enumerate(world.devices)}

    def new(names):
        return sorted(world.renamed.get(name, name) for name in names)
    # Recorded waits carry the name of the awaited object.
    shared = {one[len(HIDDEN):]: [one] for one in gains
              if world.has_waits and one.startswith(HIDDEN)}
    gains, stages = ({world.renamed.get(target, target): gain for target, gain in of.items()}
                     for of in (gains, stages))
    return world, {"name": name, "seed": seed, "family": ALL[name][0], "open": world.open,
                   "advice": world.advice,
                   "gains": gains, "waiting": waiting,
                   "alias": {**shared, **{new([one])[0]: new(of) for one, of in [
                       *world.alias.items(), *devices.items()]}},
                   "shown": new({one[1] for one in world.ranges}),
                   "hidden": [target for target in gains if target.startswith(HIDDEN)],
                   **judge(world, gains, waiting, None, stages)}


def save(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".new", path)
