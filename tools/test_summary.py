#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases of one Bazel run: EVENTS STATUS.

Prints `N passed, N failed` and exits 1 when anything failed. Cases come from
the test.xml files that this run's event file names, so that nothing of an
earlier run counts. A test that did not build, or ended without a verdict,
counts as one failed case. Each attempt counts: a test that passes at its second
one has failed.
"""
import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def read_events(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def test_labels(events):
    """Labels of all tests that were asked for and apply here."""
    labels = set()
    for event in events:
        found = event.get("id", {}).get("targetConfigured")
        if found and event.get("configured", {}).get("testSize"):
            labels.add(found["label"])
    return labels


def summaries(events):
    """Label to overall status, for the tests that have one."""
    return {
        event["id"]["testSummary"]["label"]:
            event.get("testSummary", {}).get("overallStatus", "NO_STATUS")
        for event in events
        if "testSummary" in event.get("id", {})
    }


def xml_files(events):
    """Label to the test.xml of each shard, run and attempt."""
    files = {}
    for event in events:
        key = event.get("id", {}).get("testResult")
        if not key:
            continue
        for output in event.get("testResult", {}).get("testActionOutput", []):
            if output.get("name") == "test.xml":
                path = urllib.parse.urlparse(output["uri"]).path
                files.setdefault(key["label"], []).append(path)
    return files


def count_cases(path):
    """(passed, failed, skipped) of one test.xml."""
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return 0, 0, 0
    failed = sum(
        1 for case in cases
        if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(
        1 for case in cases
        if case.find("skipped") is not None
        or case.get("result") in ("skipped", "suppressed")
        or case.get("status") == "notrun")
    return len(cases) - failed - skipped, failed, skipped


def count_target(status, files):
    passed = failed = skipped = 0
    for path in files:
        some = count_cases(path)
        passed += some[0]
        failed += some[1]
        skipped += some[2]
    if status != "PASSED" and failed == 0:
        failed = 1
    return passed, failed, skipped


def main():
    events = read_events(sys.argv[1])
    bazel_status = int(sys.argv[2])
    status = summaries(events)
    files = xml_files(events)
    passed = failed = skipped = 0
    for label in sorted(test_labels(events) | set(status)):
        verdict = status.get(label, "did not build")
        some = count_target(verdict, files.get(label, []))
        passed += some[0]
        failed += some[1]
        skipped += some[2]
        if some[1]:
            print(f"{label}: {verdict}, {some[1]} failed")
    if bazel_status != 0 and failed == 0:
        print(f"bazel ended with {bazel_status}")
        failed = 1
    if passed == 0 and failed == 0:
        print("no test ran")
        failed = 1
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
