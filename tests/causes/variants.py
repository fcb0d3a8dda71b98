# SPDX-License-Identifier: Apache-2.0
"""Changes of a program or of its recording that keep the program's limit."""
import random

from kernel import US


def late(world):
    """A loaded machine: threads wake up to 2.4 ms late."""
    world.kernel.late = 2400 * US


def background(world):
    """A busy thread without waiters."""
    world.define("housekeeping", 1.5)
    world.background(world.row("housekeeper"), "housekeeping")


def around(world):
    """A range around each thread's life."""
    world.around = [(row, f"life {row}") for row in range(1, len(world.rows))]


def nested(world):
    """A range around a thread's work for a unit."""
    for rows, stages in world.pools:
        name = f"handle {stages[0]}"
        world.nested.update((row, name) for row in rows)
        if len(stages) == 1:
            world.alias[name] = (*world.alias.get(stages[0], stages),
                                 *world.apart.get(stages[0], ()))


def no_requests(world):
    """Requests have no range of their own."""
    world.no_request = True


def renamed(world):
    """Other names, and threads in another order."""
    numbers = random.Random(f"{world.name} {world.seed} renamed")
    names = [name for name in [*world.times, *world.alias] if ":" not in name]
    new = [f"op {n}" for n in range(len(names))]
    numbers.shuffle(new)
    world.renamed = dict(zip(names, new))
    world.order = numbers.random


def waits(world):
    """Waits are recorded."""
    world.has_waits = True


def waits_alone(world):
    """Waits are recorded, and no range carries its request."""
    world.has_waits = world.no_flows = True


RECORDED = {one.__name__: one for one in (waits, waits_alone)}
ALL = {one.__name__: one for one in (late, background, around, nested, no_requests, renamed)}
