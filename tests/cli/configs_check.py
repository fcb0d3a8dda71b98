# SPDX-License-Identifier: Apache-2.0
"""What a ready configuration promises, looked up in a log's trace (trace.json)
and in what the log is (info.json): configs_check.py NAME REQUESTS, in the
folder of the run. The example pipeline calls pprof_step when it is set up and
after each 8 requests."""
import collections
import gzip
import json
import sys

BATCH = 8
# Ranges of one request that carry its flow, and how many of each.
OF_REQUEST = {
    "request": 1,
    "decode": 1,
    "preprocess": 1,
    "detect": 1,
    "wait for device": 2,
    "choose boxes": 1,
    "classify": 1,
    "postprocess": 1
}


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def ranges_of(path):
    return [event for event in load(path)["traceEvents"] if event["ph"] == "X"]


def expect(what, expected, got):
    if expected != got:
        sys.exit("%s: expected %r, got %r" % (what, expected, got))


def names_of(ranges):
    return collections.Counter(event["name"] for event in ranges)


def steps_of(ranges):
    """The whole ones."""
    return [
        event["args"]["step"]
        for event in ranges
        if event["name"] == "ProfileStep" and "clipped" not in event["args"]
    ]


def by_request(ranges):
    found = collections.defaultdict(collections.Counter)
    for event in ranges:
        for flow in event["args"].get("flows", []):
            found[flow][event["name"]] += 1
    return found


def expect_whole(requests):
    for flow, names in requests.items():
        for name, number in OF_REQUEST.items():
            expect("%s of request %s" % (name, flow), number, names[name])


def first_look(ranges, windows, num):
    names = names_of(ranges)
    for name, number in OF_REQUEST.items():
        expect(name, number * num, names[name])
    expect("steps", list(range(1 + num // BATCH)), steps_of(ranges))
    expect("windows", 1, len(windows))
    expect("the timeline", names,
           names_of(ranges_of("first_look.trace.json.gz")))


def serving(ranges, windows, num):
    requests = by_request(ranges)
    if not 0 < len(requests) < num // 2:
        sys.exit("%d of %d requests are no sample" % (len(requests), num))
    expect_whole(requests)
    expect("steps", list(range(1 + num // BATCH)), steps_of(ranges))
    expect("windows", 1, len(windows))


def flight_recorder(ranges, windows, num):
    # Two seconds after the moment may lie behind the end of the run.
    if not names_of(ranges)["decode"]:
        sys.exit("the range that was slow is not there")
    expect("windows", 1, len(windows))
    expect_whole({
        flow: names
        for flow, names in by_request(ranges).items()
        if names["request"] and names["decode"]
    } if len(by_request(ranges)) == num else {})


def training(ranges, windows, num):
    del num
    expect("steps", [3, 4, 7, 8], steps_of(ranges))
    expect("windows", [0, 1], [window["index"] for window in windows])
    for window, steps in ((0, [3, 4]), (1, [7, 8])):
        name = "training.%d.trace.json.gz" % window
        expect(name, steps, steps_of(ranges_of(name)))
        inside = {event["args"]["window"] for event in ranges_of(name)}
        expect("windows in " + name, {window}, inside)


def timer_only(ranges, windows, num):
    del windows
    names = names_of(ranges)
    expect("names", {"decode", "ProfileStep"}, set(names))
    expect("decode", num, names["decode"])
    expect("steps", list(range(1 + num // BATCH)), steps_of(ranges))


def many_ranks(ranges, windows, num):
    """Windows of 20 ms open every 40 ms by the wall clock, save the first and
    last, which the run cuts. Where the clock stands when one opens is known to
    a few milliseconds."""
    del ranges, num
    base = int(load("info.json")["logs"][0]["run"]["time_base_realtime_ns"])
    if not windows:
        sys.exit("no window")
    for window in windows:
        phase = (base + window["opens_ns"] + 5000000) % 40000000
        if phase >= 30000000:
            sys.exit("a window opens at %d ns of its period" % phase)


def main():
    checks = {
        check.__name__: check
        for check in (first_look, serving, flight_recorder, training,
                      timer_only, many_ranks)
    }
    info = load("info.json")["logs"][0]
    if not info["complete"]:
        sys.exit("the log is not complete")
    checks[sys.argv[1]](ranges_of("trace.json"), info["windows"],
                        int(sys.argv[2]))


main()
