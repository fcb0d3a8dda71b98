#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Device ranges: which streams are taken for what. No device is needed: the library's functions
are looked over the shoulder, and stand-ins play torch and cupy."""
import textwrap

from python_case import ASYNC, DEVICE_RANGE, Case, main

SPY = """
    import sys, types
    import pprof
    from pprof import _markers
    calls = []
    def spy(device=1000):
        _markers._cuda_device = lambda: device
        _markers._cuda_device_at = lambda index: 2000 + index
        _markers._device_begin = lambda device, handle, site: calls.append((device, handle)) or 77
        _markers._device_end = lambda number, handle: calls.append((number, handle))
    def begun(stream=None):
        calls.clear()
        with pprof.device_range("model", stream):
            pass
        assert calls[1] == (77, calls[0][1]), calls
        return calls[0]
    pprof.start()
"""


class Devices(Case):
    def spied(self, source, **changes):
        return self.run_ok(textwrap.dedent(SPY) + textwrap.dedent(source), **changes)

    def test_handles(self):
        self.spied("""
            spy()
            assert begun(0) == (1000, 0) and begun(1) == (1000, 0) and begun(2) == (1000, 2)
            assert begun(0x7f0011223344) == (1000, 0x7f0011223344)
            assert begun() == (1000, 0)
            spy(device=None)
            assert begun() == (2000, 0), calls  # CUDA's first device, which says why there is none
        """)

    def test_streams_of_frameworks(self):
        self.spied("""
            spy()
            class TorchStream:
                cuda_stream, device_index = 0x1234, 1
            class CupyStream:
                ptr, device_id = 0x5678, 3
                def wait_event(self, event): pass
            class CupyNull(CupyStream):
                ptr, device_id = 0, -1
            class CudaPython:
                def __cuda_stream__(self): return (0, 0x9abc)
            assert begun(TorchStream()) == (2001, 0x1234)
            assert begun(CupyStream()) == (2003, 0x5678)
            assert begun(CupyNull()) == (1000, 0)
            assert begun(CudaPython()) == (1000, 0x9abc)
        """)

    def test_the_current_stream_of_torch(self):
        self.spied("""
            spy()
            def torch(**private):
                made = types.ModuleType("torch")
                made.cuda = types.SimpleNamespace(
                    is_initialized=lambda: True,
                    current_stream=lambda: types.SimpleNamespace(cuda_stream=0x22))
                made._C = types.SimpleNamespace(**private)
                sys.modules["torch"] = made
                return made
            torch(_cuda_getDevice=lambda: 5, _cuda_getCurrentRawStream=lambda index: 0x10 + index)
            assert begun() == (1000, 0x15)
            torch()
            assert begun() == (1000, 0x22)
            spy(device=None)
            assert begun() == (None, 0)  # no context yet: no driver is loaded for it either
            spy()
            torch().cuda.is_initialized = lambda: False
            assert begun() == (1000, 0)
            sys.modules["torch"] = types.ModuleType("torch")
            assert begun() == (1000, 0)
        """)

    def test_other_objects_are_refused(self):
        """Also while nothing records: a program must not fail only when it is profiled."""
        self.spied("""
            class MemoryPointer:
                ptr = 5
            for state in "on", "off":
                for wrong in ("stream", 1.0, True, -1, 1 << 64, object(), MemoryPointer(), [0]):
                    try:
                        pprof.device_range("model", wrong)
                    except TypeError as error:
                        assert "torch or cupy" in str(error) and repr(wrong) in str(error), error
                    else:
                        raise SystemExit("%r was not refused" % (wrong,))
                    try:
                        pprof.stream_name("name", wrong)
                        raise SystemExit("%r was not refused" % (wrong,))
                    except TypeError:
                        pass
                pprof.stop()
        """)

    def test_a_device_that_is_here(self):
        """The library's own: functions that wait in a queue with a thread of its own."""
        log = self.log_of("""
            import ctypes, os, pprof, threading
            from pprof import _markers
            library = ctypes.CDLL(os.environ["PPROF_LIBRARY"])
            library.pprof_backend_cpu.restype = ctypes.c_void_p
            library.pprof_device_get.restype = ctypes.c_void_p
            FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
            device = library.pprof_device_get(ctypes.c_void_p(library.pprof_backend_cpu()), 0)
            stream = ctypes.c_void_p()
            assert library.pprof_cpu_stream_create(ctypes.byref(stream)) == 0
            _markers._cuda_device = lambda: device
            pprof.stream_name("queue", stream.value)
            pprof.start()
            go, going = threading.Event(), threading.Event()
            @FUNCTION
            def wait(_):
                going.set()
                go.wait()
            nothing = FUNCTION(lambda _: None)
            def submit(function):
                assert library.pprof_cpu_stream_submit(stream, function, None) == 0
            with pprof.device_range("model", stream.value) as model:
                submit(wait)
                model.work(items=5)
                with pprof.device_range("second part", stream.value):
                    submit(nothing)
            going.wait()
            pprof.mark("submitted")
            go.set()
            library.pprof_cpu_stream_synchronize(stream)
            library.pprof_cpu_stream_destroy(stream)
            pprof.stop()
        """)
        model, part, mark = map(log.named, ("model", "second part", "submitted"))
        for event in model, part:
            self.assertEqual((event["kind"], event["lane_name"] == mark["lane_name"]),
                             (DEVICE_RANGE, True))
            self.assertLessEqual(event["end"], mark["start"])  # nobody waited for the device
            self.assertGreaterEqual(event["device"][1], mark["start"])
        self.assertLessEqual(model["device"][0], mark["start"])
        self.assertGreaterEqual(part["device"][0], mark["start"])
        self.assertEqual(model["work"][0], 5)
        views, trust = self.report(log)
        rows = {row["name"]: row for row in views["userdefined"]}
        device_ns = {event["name"]: event["device"][1] - event["device"][0]
                     for event in (model, part)}
        self.assertEqual({name: row["device_total"] for name, row in rows.items()}, device_ns)
        self.assertEqual(trust["no_device_time"], 0)

    def test_without_a_device(self):
        """Host times, a note with the reason, and no fault."""
        log = self.log_of("""
            import asyncio, pprof
            pprof.stream_name("main", 0)
            pprof.start()
            with pprof.device_range("model", 0, category="Inference") as model:
                model.work(items=8)
                model.flow(4)
            @pprof.device_range("function", 0)
            def function(): return 3
            @pprof.device_range("coroutine", 0)
            async def coroutine():
                await asyncio.sleep(0)
                return 4
            async def main():
                assert await asyncio.gather(coroutine(), coroutine()) == [4, 4]
            assert function() == 3
            asyncio.run(main())
            again = pprof.device_range("again")
            with again, again:
                pass
            again.__exit__(None, None, None)
            try:
                with again:
                    raise KeyError
            except KeyError:
                pass
        """)
        self.assertEqual(set(log.select("kind")), {DEVICE_RANGE})
        self.assertEqual(sorted(log.select("name", "category")), [
            ("again", "UserDefined")] * 3 + [("coroutine", "UserDefined")] * 2 + [
            ("function", "UserDefined"), ("model", "Inference")])
        model = log.named("model")
        self.assertEqual((model["work"][0], model["flows"]), (8, [4]))
        self.assertFalse([flags for flags in log.select("flags") if flags & ASYNC])


if __name__ == "__main__":
    main()
