# SPDX-License-Identifier: Apache-2.0
"""spark_program.py FILE...: each file's statements, on a cluster of two workers that are processes
of their own; a line of JSON for each: the last one's columns and rows."""
import json
import sys

from pyspark.sql import SparkSession

spark = (SparkSession.builder.master("local-cluster[2,1,1024]")
         .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
         .config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "4")
         .config("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000").getOrCreate())
for path in sys.argv[1:]:
    session = spark.newSession()
    with open(path, encoding="utf-8") as file:
        for statement in file.read().split(";\n"):
            answer = session.sql(statement)
    print(json.dumps({"columns": answer.columns, "rows": [list(row) for row in answer.collect()]}))
workers = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
print(json.dumps(len(workers) - 1))  # the first one is the driver
spark.stop()
