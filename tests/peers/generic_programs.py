# SPDX-License-Identifier: Apache-2.0
"""Small programs of frameworks that write Chrome traces: generic_programs.py NAME."""
import glob
import os
import shutil
import subprocess
import sys

from common import SECONDS


def viztracer():
    import viztracer

    def leaf(n):
        return sum(range(n))

    def branch(n):
        return [leaf(i) for i in range(n)]

    with viztracer.VizTracer(output_file="trace.json", verbose=0, log_async=False) as tracer:
        for at in range(20):
            with tracer.log_event("stage"):
                branch(50)
            tracer.log_instant("done", args={"at": at})
            tracer.log_var("depth", at)


def onnxruntime():
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    import onnxruntime as ort
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name="first"),
             helper.make_node("Relu", ["a"], ["b"], name="bend"),
             helper.make_node("MatMul", ["b", "v"], ["y"], name="last"),
             helper.make_node("Softmax", ["y"], ["z"], name="odds")]
    weights = [onnx.numpy_helper.from_array(np.ones((64, 32), "float32"), "w"),
               onnx.numpy_helper.from_array(np.ones((32, 8), "float32"), "v")]
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 64])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [16, 8])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = "ort"
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    for _ in range(20):
        session.run(None, {"x": np.ones((16, 64), "float32")})
    os.rename(session.end_profiling(), "trace.json")


def jax():
    import jax
    import jax.numpy as jnp
    step = jax.jit(lambda x: jnp.tanh(x @ x).sum())
    x = jnp.ones((128, 128))
    step(x).block_until_ready()
    with jax.profiler.trace("jax", create_perfetto_trace=False):
        for at in range(10):
            with jax.profiler.StepTraceAnnotation("train", step_num=at):
                with jax.profiler.TraceAnnotation("stage"):
                    step(x).block_until_ready()
    newest("jax")


def tensorflow():
    import tensorflow as tf

    @tf.function
    def step(x):
        return tf.reduce_sum(tf.nn.relu(tf.matmul(x, x)))

    x = tf.ones((128, 128))
    step(x)
    tf.profiler.experimental.start("tf")
    for at in range(10):
        with tf.profiler.experimental.Trace("train", step_num=at, _r=1):
            step(x)
    tf.profiler.experimental.stop()
    from xprof.convert import raw_to_tool_data
    planes = glob.glob(os.path.join("tf", "**", "*.xplane.pb"), recursive=True)
    text, _ = raw_to_tool_data.xspace_to_tool_data([max(planes, key=os.path.getmtime)],
                                                   "trace_viewer", {})
    with open("trace.json", "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else text.decode())


def tensorflow1():
    import tensorflow.compat.v1 as tf
    from tensorflow.python.client import timeline
    tf.disable_eager_execution()
    x = tf.placeholder(tf.float32, [64, 64])
    y = tf.reduce_sum(tf.nn.relu(tf.matmul(x, x)))
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    data = tf.RunMetadata()
    with tf.Session() as session:
        for _ in range(3):
            session.run(y, {x: [[1.0] * 64] * 64}, options=options, run_metadata=data)
    with open("trace.json", "w", encoding="utf-8") as file:
        file.write(timeline.Timeline(data.step_stats).generate_chrome_trace_format())


def ray():
    import ray as ray_

    @ray_.remote
    def square(n):
        return sum(i * i for i in range(n))

    ray_.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray_.get([square.remote(1000 * at) for at in range(20)])
    ray_.timeline("trace.json")
    ray_.shutdown()


def clang():
    with open("unit.cc", "w", encoding="utf-8") as file:
        file.write("#include <map>\n#include <string>\nstd::map<std::string, int> all;\n"
                   "int main() { return all[\"a\"]; }\n")
    subprocess.run(["clang++", "-O1", "-ftime-trace", "-ftime-trace-granularity=0", "-c",
                    "unit.cc", "-o", "trace.o"], check=True)


def chromium():
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                    "--user-data-dir=" + os.path.abspath("profile"), "--trace-startup=toplevel,blink",
                    "--trace-startup-file=" + os.path.abspath("trace.json"),
                    "--trace-startup-format=json", "--timeout=3000",
                    "--screenshot=page.png", "data:text/html,<h1>page</h1>"],
                   check=True, timeout=SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def newest(folder):
    found = glob.glob(os.path.join(folder, "**", "*.trace.json.gz"), recursive=True)
    shutil.copy(max(found, key=os.path.getmtime), "trace.json.gz")


globals()[sys.argv[1]]()
