#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A C++ program with nvtx3.hpp, as its log has it."""
from nvtx_case import ASYNC, COUNTER, MARK, RANGE, Case, main

USER = "UserDefined"


class CxxTest(Case):
    def test_ranges(self):
        self.run_ok("ranges")
        log = self.log()
        mine = "ranges [my domain]"
        shown = [(event["kind"], event["name"], event["category"], event["lane_name"],
                  event["depth"], event["flags"]) for event in log.events
                 if event["kind"] != COUNTER and event["name"] != "on a thread"]
        self.assertEqual(shown, [
            (RANGE, "Function", USER, "ranges", 0, 0),
            (RANGE, "FunctionInDomain", USER, mine, 0, 0),
            (RANGE, "outer", USER, "ranges", 0, 0),
            (RANGE, "in my domain", USER, mine, 0, 0),
            (RANGE, "registered once", USER, mine, 1, 0),
            (RANGE, "registered once", USER, mine, 1, 0),
            (RANGE, "registered once", USER, mine, 1, 0),
            (RANGE, "with attributes", USER, "ranges", 1, 0),
            (RANGE, "categorised", "my category", mine, 1, 0),
            (RANGE, "ends by an exception", USER, "ranges", 0, 0),
            (MARK, "caught", USER, "ranges", 0, 0),
            (RANGE, "moves to a thread", USER, "ranges", 0, ASYNC),
            (RANGE, "started", USER, mine, 0, ASYNC),
            (MARK, "with a number", USER, "ranges", 0, 0),
        ])
        self.assertEqual(log.count("on a thread"), 1)
        colors = {event["name"]: event["color"] for event in log.events}
        self.assertEqual(colors["with attributes"], 0x010203)
        self.assertEqual([(event["name"], event["value"]) for event in log.events
                          if event["kind"] == COUNTER], [("with a number.payload", 5.0)])
        self.assertEqual((log.total("lost"), log.total("unmatched")), (0, 0))


if __name__ == "__main__":
    main()
