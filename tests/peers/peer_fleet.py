# SPDX-License-Identifier: Apache-2.0
"""DuckDB: what `export parquet` writes, by Python's own DuckDB, beside the SQLite export; what
`fleet` answers, beside sums made here and beside what was planted."""
import collections
import json
import os
import shutil
import sqlite3
import subprocess

import common

PACKAGES = ["duckdb==2.0.1"]
TRACE = os.path.join(common.HERE, "..", "data", "traces", "torch_ddp0.json.gz")
TABLES = ("run site lane device stream attribute host_range device_range mark counter flow capture"
          " total note").split()
# rank, stage, since, percent
PLANTED = ["7", "forward", "50", "130", "33", "load", "120", "110"]


def with_duckdb(peer):
    """Our tool finds the library of the peer's Python."""
    os.environ["PPROF_DUCKDB"] = peer.run("fleet_program.py").strip()


def make(peer, name, program, *arguments):
    """The logs that a program of tests/ writes, in a new folder."""
    folder = peer.path(name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    made = os.path.join(os.path.dirname(peer.tool), "..", "tests", program)
    subprocess.run([made, folder, *arguments], check=True)
    return folder


def export(peer, name, *logs):
    """Their folder of Parquet."""
    folder = peer.path(name)
    shutil.rmtree(folder, ignore_errors=True)
    peer.report("export", "parquet", *logs, "-o", folder)
    return folder


def answer(peer, folder, view, code=0):
    """(rows as dictionaries, what was said)"""
    done = subprocess.run([peer.tool, "fleet", folder, "--view", view, "-f", "json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != code:
        raise RuntimeError(f"fleet --view {view}: {done.returncode} {done.stderr.decode()}")
    table = json.loads(done.stdout)
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]], done.stderr.decode()


# ---- the way there and back ----


def rows_of_sqlite(peer, log):
    path = peer.path("there.sqlite")
    peer.report("export", "sqlite", "--force", log, "-o", path)
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    uuid, rank = db.execute("SELECT uuid, rank FROM run").fetchone()
    found = {}
    for table in TABLES:
        found[table] = [{**dict(row), "run": uuid, "rank": rank}
                        for row in db.execute(f"SELECT * FROM {table}")]
    db.close()
    return found


def order(row):
    return [(name, str(cell)) for name, cell in sorted(row.items())]


def there_and_back(peer, row, log):
    folder = export(peer, "there", log)
    back = json.loads(peer.run("fleet_program.py", folder, *TABLES))
    for table, there in rows_of_sqlite(peer, log).items():
        row.cell(f"{log}: {table}", len(there), len(back[table]))
        for ours, theirs in zip(sorted(there, key=order), sorted(back[table], key=order)):
            for name in sorted({*ours, *theirs}):
                row.cell(f"{log}: {table}.{name}", theirs.get(name, "-"), ours.get(name, "-"))


# ---- what views say, made here ----


def nearest_rank(values, percent):
    return sorted(values)[-(-len(values) * percent // 100) - 1]


def union(ranges):
    total, end = 0, None
    for start, stop in sorted(ranges):
        begin = start if end is None else max(start, end)
        total += max(0, stop - begin)
        end = stop if end is None else max(end, stop)
    return total


def calls_of(tables):
    """(rank, name, category, place, start, end) of each."""
    sites = {(site["run"], site["id"]): site for site in tables["site"]}
    for place, table in (("host", "host_range"), ("device", "device_range")):
        for found in tables[table]:
            site = sites[found["run"], found["site"]]
            if found.get("step") is None and found["start_ns"] is not None:
                yield (found["rank"], site["name"], site["category"], place, found["start_ns"],
                       found["end_ns"], found["flags"])


def compare_stages(row, told, calls):
    lengths = collections.defaultdict(list)
    for _, name, category, place, start, end, _ in calls:
        lengths[name, category, place].append(end - start)
    row.cell("stages", len(lengths), len(told))
    for cells in told:
        of = lengths[cells["name"], cells["category"], cells["place"]]
        made = {"calls": len(of), "total_ns": sum(of), "max_ns": max(of),
                **{f"p{p}_ns": nearest_rank(of, p) for p in (50, 90, 99)}}
        for name, cell in made.items():
            row.cell(f"stages: {cells['name']}.{name}", cells[name], cell)


def compare_breakdown(row, told, calls):
    ranges = collections.defaultdict(list)
    for rank, _, category, place, start, end, flags in calls:
        kind = "communication" if category == "Communication" or flags & 256 else "computation"
        ranges[rank, place, kind].append((start, end))
    for cells in told:
        compute, wait = (ranges[cells["rank"], cells["place"], kind]
                         for kind in ("computation", "communication"))
        span = max(end for _, end in compute + wait) - min(start for start, _ in compute + wait)
        overlap = union(compute) + union(wait) - union(compute + wait)
        made = {"computation_ns": union(compute), "communication_ns": union(wait),
                "overlap_ns": overlap, "idle_ns": span - union(compute + wait), "span_ns": span,
                "overlap_of_communication": round(overlap / union(wait), 4)}
        for name, cell in made.items():
            row.cell(f"busy: {cells['rank']}.{name}", cells[name], cell)


def compare_imbalance(row, told, tables):
    """Steps and stages of the made logs lie in a row, so the n-th call is of step n."""
    of = collections.defaultdict(list)
    for rank, name, category, place, start, end, flags in sorted(
            calls_of(tables), key=lambda call: call[4]):
        if category != "Communication" and not flags & 256:
            of[name, rank].append(end - start)
    ranks = sorted({rank for _, rank in of})
    for cells in told:
        steps = list(zip(*(of[cells["name"], rank] for rank in ranks)))
        mean, most = sum(map(sum, steps)) / len(ranks) / len(steps), sum(map(max, steps))
        made = {"ranks": len(ranks), "steps": len(steps), "mean_ns": round(mean),
                "slowest_ns": round(most / len(steps)),
                "waited_ns": round(most / len(steps) - mean),
                "imbalance": round(most / len(steps) / mean, 4)}
        for name, cell in made.items():
            row.cell(f"imbalance: {cells['name']}.{name}", cells[name], cell)


def compare_views(peer, row):
    logs = make(peer, "small", "make_ranks", "6", "30", "5")
    folder = export(peer, "small.parquet", logs)
    tables = json.loads(peer.run("fleet_program.py", folder, "site", "host_range",
                                 "device_range"))
    calls = list(calls_of(tables))
    compare_stages(row, answer(peer, folder, "stages")[0], calls)
    compare_breakdown(row, answer(peer, folder, "busy")[0], calls)
    compare_imbalance(row, answer(peer, folder, "imbalance")[0], tables)


# ---- what may be asked ----

# Column x of the answer, or what it is refused with.
QUERIES = [
    ("SELECT 1 AS x;", [1]), ("SELECT 1 AS x -- one", [1]), ("VALUES (1)", [1]),
    ("SELECT rank AS x FROM run ORDER BY rank DESC", [5, 4, 3, 2, 1, 0]),
    ("SELECT NULL AS n, true AS x, DATE '2026-01-31' AS d", [None]),
    ("SELECT CAST(uuid() AS VARCHAR) = '' AS x", ["false"]),
    ("SELECT 1 AS x; SELECT 2 AS x", "the query is to be one SELECT"),
    ("SELECT 1 AS x; COPY (SELECT 1) TO '{0}/new.csv'", "the query is to be one SELECT"),
    ("COPY (SELECT 1) TO '{0}/new.csv'", "the query is to be one SELECT"),
    ("EXPLAIN SELECT 1", "the query is to be one SELECT"),
    ("SELECT 1) TO '{0}/new.csv'; (SELECT 1", "Parser Error: syntax error"),
    ("WITH w AS (COPY (SELECT 1) TO '{0}/new.csv') SELECT 1 AS x", " Error: "),
    ("SELECT * FROM absent", "Catalog Error: "),
    ("SELECT 7 AS x, uuid() AS u", "column 'u' has a type that cannot be printed"),
    ("SELECT [1, 2] AS l", "column 'l' has a type that cannot be printed"),
    ("SELECT 'a'::ENUM('a') AS e", "column 'e' has a type that cannot be printed"),
    ("SELECT now() AS t", "column 't' has a type that cannot be printed")]


def files_of(folder):
    return sorted((path, *sorted(names)) for path, _, names in os.walk(folder))


def compare_queries(peer, row):
    folder = peer.path("small.parquet")
    files = files_of(folder)
    for query, expected in QUERIES:
        done = subprocess.run([peer.tool, "fleet", folder, "-f", "json", query.format(folder)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        said = done.stderr.decode()
        if isinstance(expected, str):
            row.cell(query, (2, b"", True), (done.returncode, done.stdout, expected in said))
        else:
            row.cell(query, 0, done.returncode)
            row.cell(query, expected, [cells[0] for cells in json.loads(done.stdout)["rows"]])
    row.cell("queries: files", files, files_of(folder))


# ---- what was planted ----


def compare_planted(peer, row):
    logs = make(peer, "slow", "make_ranks", "100", "200", "1", *PLANTED)
    folder = export(peer, "slow.parquet", logs)
    found = [(cells["rank"], cells["name"], cells["since_step"], cells["last_step"])
             for cells in answer(peer, folder, "stragglers")[0] if cells["place"] == "host"]
    row.cell("stragglers", [(7, "forward", 50, 199), (33, "load", 120, 199)], found)
    # The clock of host N is N ms ahead; the median is that of host 6.
    for cells in answer(peer, folder, "clocks")[0]:
        ahead = (int(cells["host"][len("node"):]) - 6) * 1000000
        row.cell(f"clocks: {cells['host']}", True,
                 abs(cells["offset_ns"] - ahead) <= cells["error_ns"] <= 20000)
    for seed in range(10):
        logs = make(peer, "even", "make_ranks", "30", "100", str(seed))
        told = answer(peer, export(peer, "even.parquet", logs), "stragglers")[0]
        row.cell(f"stragglers where none is, seed {seed}", [], told)


def compare_without_ranks(peer, row):
    """Three runs, none with a rank or a host: all of `work` is inside its `inner`, the third
    run's `late` is cut."""
    logs = []
    for run in range(3):
        logs.append(peer.path(f"rankless{run}.json"))
        events = []
        for step in range(3):
            at = step * 1000
            events += [(f"ProfilerStep#{step}", at, 900), ("work", at, 100),
                       ("inner", at, 100)]
        events = [{"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1, "name": name, "ts": at,
                   "dur": length} for name, at, length in events]
        late = {"pid": 1, "tid": 2, "name": "late", "ts": 2800}
        events.append({**late, "ph": "B"} if run == 2 else {**late, "ph": "X", "dur": 40})
        with open(logs[-1], "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "run": run}, file)
    folder = export(peer, "rankless.parquet", *logs)
    told = {cells["name"]: cells for cells in answer(peer, folder, "imbalance")[0]}
    for name, imbalance in (("work", 0), ("inner", 1)):
        row.cell(f"without ranks: {name}", (imbalance, 3, None),
                 tuple(told[name][column]
                       for column in ("imbalance", "slowest_steps", "slowest_rank")))
    late, = (cells for cells in answer(peer, folder, "stages")[0] if cells["name"] == "late")
    row.cell("without ranks: late", (3, 2, 180000, 40000),
             tuple(late[column] for column in ("ranks", "calls", "total_ns", "max_ns")))
    row.cell("without ranks: clocks", [], answer(peer, folder, "clocks")[0])


def compare_damaged(peer, row):
    folder = peer.path("small.parquet")
    runs = sorted(os.listdir(folder))
    os.truncate(os.path.join(folder, runs[2], "rank=2", "host_range.parquet"), 1000)
    shutil.rmtree(os.path.join(folder, runs[4]))
    told, said = answer(peer, folder, "ranks", code=4)
    row.cell("damaged: ranks", [0, 1, 3, 5], [cells["rank"] for cells in told])
    row.cell("damaged: said", [True, True], [
        "host_range.parquet: is cut or damaged; the run is left out" in said,
        "of ranks 0 to 5, 1 is missing: 4" in said])


def compare(peer):
    with_duckdb(peer)
    round_trip = common.Row("Parquet: each cell of each table, beside the SQLite export")
    runs = make(peer, "runs", "make_run")
    for log in (os.path.join(runs, "rich.pplog"), os.path.join(runs, "other.pplog"), TRACE):
        there_and_back(peer, round_trip, log)
    views = common.Row("fleet: stages, busy and imbalance, beside sums made here; planted"
                       " stragglers and clocks; damaged and missing ranks; what is no SELECT")
    compare_views(peer, views)
    compare_queries(peer, views)
    compare_planted(peer, views)
    compare_without_ranks(peer, views)
    compare_damaged(peer, views)
    version = peer.version("duckdb")
    return [(version, round_trip), (version, views)]
