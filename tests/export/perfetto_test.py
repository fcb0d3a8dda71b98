#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Perfetto trace, read as trace_processor reads it: packets in the order of time, those of one
time in the order of the file, begins and ends by a stack for each track. Field numbers are those
of Perfetto's trace_packet.proto, track_event.proto and track_descriptor.proto."""
import zlib

import export_case
from export_case import ms
from wire import every, fixed, one, real, text

BASE = 1700000000000000000
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def packets(data):
    """Those inside of compressed_packets (50) in their place; there are no others."""
    found = []
    for packet in every(data, 1):
        inner = one(packet, 50)
        assert inner is not None
        assert len(packet) < 512 << 10
        found += every(zlib.decompress(inner), 1)
    return found


class Trace:

    def __init__(self, data):
        self.tracks, self.slices, self.marks, self.counters = {}, [], [], []
        self.categories, self.names, self.words = {}, {}, {}
        self.clocks = []
        events = []
        for packet in packets(data):
            self.take(packet)
            event = one(packet, 11)
            if event is not None:
                # Of the one sequence (10), after its state was cleared (13).
                assert one(packet, 10) == 1 and one(packet, 13) == 2 and self.words
                events.append((one(packet, 8), event))
        stacks = {}
        for at, event in sorted(events, key=lambda item: item[0]):
            self.play(at, event, stacks.setdefault(one(event, 11), []))
        assert not any(stacks.values())

    def take(self, packet):
        interned = one(packet, 12, b"")
        for number, into in ((1, self.categories), (2, self.names), (3, self.words)):
            for entry in every(interned, number):
                assert one(entry, 1) not in into
                into[one(entry, 1)] = text(entry, 2)
        track = one(packet, 60)
        if track is not None:
            assert one(track, 1) not in self.tracks
            self.tracks[one(track, 1)] = track
        clocks = one(packet, 6)
        if clocks is not None:
            self.clocks += [(one(clock, 1), one(clock, 2)) for clock in every(clocks, 1)]

    def notes(self, event):
        found = {}
        for note in every(event, 4):
            value = one(note, 3)
            if value is None:
                value = real(note, 5)
            found[self.words[one(note, 1)]] = text(note, 9) if value is None else value
        return found

    def play(self, at, event, stack):
        kind, track = one(event, 9), one(event, 11)
        assert track in self.tracks
        if kind == COUNTER:
            self.counters.append((self.title(track), at - BASE, real(event, 44)))
            return
        if kind == END:
            start, name, category, notes, flows, depth = stack.pop()
            self.slices.append((self.title(track), name, category, start - BASE, at - BASE, depth,
                                notes, flows))
            return
        name = self.names[one(event, 10)]
        category = self.categories[one(event, 3)]
        if kind == INSTANT:
            self.marks.append((self.title(track), name, at - BASE))
            return
        assert kind == BEGIN
        stack.append((at, name, category, self.notes(event), fixed(event, 47), len(stack)))

    def title(self, uuid):
        """The names from the process down."""
        track = self.tracks[uuid]
        thread, process = one(track, 4), one(track, 3)
        if process is not None:
            return "%s %d" % (text(process, 6), one(process, 1))
        if thread is not None:
            return "%d/%d %s" % (one(thread, 1), one(thread, 2), text(thread, 5))
        return self.title(one(track, 5)) + " / " + text(track, 2)


HOST = [
    ("100/100 main", "infer", "Inference", 2, 8, 1),
    ("100/100 main", "infer", "Inference", 12, 18, 1),
    ("100/100 main", 'pre;pare "<x>"', "UserDefined", 0, 2, 1),
    ("100/100 main", "serve", "UserDefined", 0, 8, 0),
    ("100/100 main", "serve", "UserDefined", 10, 20, 0),
    ("100/101 worker", "infer", "Inference", 5, 25, 0),
    ("serve 100 / main submits", "Memcpy HtoD", "Memcpy", 14, 14, 0),
    ("serve 100 / main submits", "gemm", "Kernel", 3, 3, 0),
    ("serve 100 / main submits", "gemm", "Kernel", 13, 13, 0),
    ("serve 100 / main submits", "gemm", "Kernel", 19, 19, 0),
    ("serve 100 / main, ends anywhere", "fetch", "UserDefined", 1, 9, 0),
    ("serve 100 / process, ends anywhere", "ProfileStep", "ProfileStep", 0, 10, 0),
    ("serve 100 / process, ends anywhere", "ProfileStep", "ProfileStep", 10, 30, 0),
]
DEVICE = [
    ("serve 100 / gpu:0 / compute", "Memcpy HtoD", "Memcpy", 16, 19, 0),
    ("serve 100 / gpu:0 / compute", "gemm", "Kernel", 4, 7, 0),
    ("serve 100 / gpu:0 / compute", "gemm", "Kernel", 14, 17, 0),
]


class Perfetto(export_case.Case):

    def read(self, *inputs):
        data, said = self.export("perfetto", *inputs, "-o", "-")
        self.assertEqual("", said)
        return Trace(data)

    def test_slices(self):
        trace = self.read("rich.pplog")
        found = sorted((title, name, category, start // ms(1), end // ms(1), depth)
                       for title, name, category, start, end, depth, _, _ in trace.slices)
        self.assertEqual(sorted(HOST + DEVICE), found)
        # The copy began while a kernel ran, so it is on another track of that name.
        streams = [uuid for uuid, track in trace.tracks.items() if text(track, 2) == "compute"]
        self.assertEqual(2, len(streams))
        self.assertEqual([(6, BASE), (1, BASE)], trace.clocks)

    def test_points(self):
        trace = self.read("rich.pplog")
        self.assertEqual([("100/100 main", "note", ms(15))], trace.marks)
        self.assertEqual([("serve 100 / depth", ms(1), 3.0), ("serve 100 / depth", ms(11), 5.5)],
                         trace.counters)

    def test_what_slices_carry(self):
        slices = self.read("rich.pplog").slices
        notes = {(name, start // ms(1), title.split()[-1]): carried
                 for title, name, _, start, _, _, carried, _ in slices if carried}
        self.assertEqual(
            {
                ("ProfileStep", 0, "anywhere"): {"step": 0},
                ("ProfileStep", 10, "anywhere"): {"step": 1},
                ("serve", 0, "main"): {"items": 4.0, "bytes": 1000.0},
                ("infer", 12, "main"): {"user_ns": ms(5), "sys_ns": ms(1)},
                ("gemm", 4, "compute"): {"attributes": '{"grid":[1,2,3]}'},
                ("gemm", 19, "submits"): {"flags": 16},
            }, notes)

    def test_flows(self):
        """A request's two ranges; each timed launch and its work."""
        groups = {}
        for _, name, _, start, _, _, _, flows in self.read("rich.pplog").slices:
            for flow in flows:
                groups.setdefault(flow, []).append((start // ms(1), name))
        self.assertEqual([(0, "serve"), (2, "infer")], sorted(groups.pop(77)))
        self.assertEqual([[(3, "gemm"), (4, "gemm")], [(13, "gemm"), (14, "gemm")],
                          [(14, "Memcpy HtoD"), (16, "Memcpy HtoD")]],
                         sorted(sorted(group) for group in groups.values()))

    def test_several_runs(self):
        """Each is a process, on one axis, the other one second later."""
        trace = self.read("rich.pplog", "other.pplog")
        found = {first: sorted((title, name, (start - first) // ms(1), (end - first) // ms(1))
                               for title, name, _, start, end, _, _, _ in trace.slices
                               if ms(0) <= start - first < ms(1000))
                 for first in (ms(0), ms(1000))}
        expected = sorted((title, name, start, end) for title, name, _, start, end, _ in
                          HOST + DEVICE)
        self.assertEqual(expected, found[ms(0)])
        self.assertEqual(sorted((title.replace("serve 100", "serve 200").replace("100/", "200/"),
                                 name, start, end) for title, name, start, end in expected),
                         found[ms(1000)])

    def test_numbers_that_do_not_fit(self):
        """Threads of a process have numbers of their own, also those that a trace calls by texts."""
        trace = self.read(self.texts_of_threads("texts"))
        threads = [one(track, 4) for track in trace.tracks.values() if one(track, 4) is not None]
        numbers = [one(thread, 2) for thread in threads]
        self.assertEqual({1}, {one(thread, 1) for thread in threads})
        self.assertEqual((4, 4, 1), (len(numbers), len(set(numbers)), min(numbers)))
        self.assertLess(max(numbers), 1 << 31)
        self.assertEqual(4, len({title for title, *_ in trace.slices}))

    def test_it_is_small(self):
        self.call("trace", "rich.pplog", "-o", "rich.json")
        self.export("perfetto", "rich.pplog", "-o", "rich.pftrace")
        sizes = []
        for name in ("rich.json", "rich.pftrace"):
            with open(self.path(name), "rb") as file:
                sizes.append(len(file.read()))
        self.assertLess(4 * sizes[1], sizes[0])


if __name__ == "__main__":
    export_case.main()
