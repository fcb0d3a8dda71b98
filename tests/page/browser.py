# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium, headless and without a network, over its debugging pipe: no driver beside it.

One browser for all pages; each page says what it asked for, and what went wrong in it."""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile

WAIT_S = 60


def find():
    path = shutil.which("chromium")
    if not path:
        raise SystemExit("no chromium: `./dev test` installs it")
    return path


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        commands, answers = os.pipe(), os.pipe()
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (commands[0], answers[1])]

        def take():
            os.dup2(theirs[0], 3)
            os.dup2(theirs[1], 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--hide-scrollbars", "--force-color-profile=srgb", "--disable-background-networking",
             "--disable-component-update", "--disable-dev-shm-usage", "--no-first-run",
             f"--user-data-dir={self.home}/profile", "about:blank"],
            preexec_fn=take, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.home))
        for fd in (commands[0], answers[1], *theirs):
            os.close(fd)
        self.to, self.back = os.fdopen(commands[1], "wb"), os.fdopen(answers[0], "rb")
        self.number, self.rest, self.pages = 0, b"", {}

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(WAIT_S)
        finally:
            self.process.kill()
            self.process.wait()
            self.to.close()
            self.back.close()
            shutil.rmtree(self.home, ignore_errors=True)

    def read(self):
        while b"\0" not in self.rest:
            more = self.back.read1(1 << 20)
            if not more:
                raise AssertionError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self.to.write(json.dumps(message).encode() + b"\0")
        self.to.flush()
        while True:
            answer = self.read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("sessionId") in self.pages:
                self.pages[answer["sessionId"]].hear(answer)

    def open(self, path, width=1280, height=800, dark=False, fragment=""):
        return Page(self, f"file://{path}{fragment}", width, height, dark)

    def visit(self, address, width=1280, height=800):
        """A page that a server of this machine has: others' own programs, which ask it for more."""
        return Page(self, address, width, height, False, drawn=False, offline=False)

    def shrunk(self, png, factor):
        """The picture with each square of `factor` pixels as one."""
        return self.on_canvas(f"""
            const image = await load(pictures[0]);
            const canvas = new OffscreenCanvas(Math.floor(image.width / {factor}),
                                               Math.floor(image.height / {factor}));
            const context = canvas.getContext('2d');
            context.imageSmoothingQuality = 'high';
            context.drawImage(image, 0, 0, canvas.width, canvas.height);
            const blob = await canvas.convertToBlob();
            const bytes = new Uint8Array(await blob.arrayBuffer());
            return btoa(Array.from(bytes, b => String.fromCharCode(b)).join(''));""", png)

    def difference(self, one, other, far=48):
        """The part of pixels that are far apart; 1 where sizes differ by more than a few rows."""
        return self.on_canvas(f"""
            const [a, b] = await Promise.all(pictures.map(load));
            if (a.width !== b.width || Math.abs(a.height - b.height) > 6) return 1;
            const height = Math.min(a.height, b.height);
            const [p, q] = [a, b].map(image => {{
              const canvas = new OffscreenCanvas(a.width, height);
              const context = canvas.getContext('2d');
              context.drawImage(image, 0, 0);
              return context.getImageData(0, 0, a.width, height).data; }});
            let num = 0;
            for (let at = 0; at < p.length; at += 4)
              num += [0, 1, 2].some(i => Math.abs(p[at + i] - q[at + i]) > {far});
            return 4 * num / p.length;""", one, other)

    def on_canvas(self, body, *pngs):
        page = Page(self, "about:blank", 100, 100, False, drawn=False)
        texts = json.dumps([base64.b64encode(png).decode() for png in pngs])
        found = page.js(
            "(async () => { const pictures = " + texts + "; const load = text => createImageBitmap("
            "new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))]));" + body + "})()")
        page.close()
        return found


class Page:
    def __init__(self, browser, address, width, height, dark, drawn=True, offline=True):
        self.browser, self.address = browser, address
        self.wrong, self.asked, self.loaded = [], [], False
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target,
                                    flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        if offline:
            self.call("Network.emulateNetworkConditions", offline=True, latency=0,
                      downloadThroughput=0, uploadThroughput=0)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=address)
        while not self.loaded:
            self.hear(browser.read())
        # The page says when all is drawn.
        if drawn:
            self.js("new Promise(done => { const look = () => document.body.dataset.drawn"
                    " ? done() : setTimeout(look, 10); look(); })")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def hear(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"].split("#")[0])
        elif method == "Runtime.exceptionThrown":
            self.wrong.append(params["exceptionDetails"].get("exception", {}).get("description"))
        elif method == "Runtime.consoleAPICalled":
            self.wrong.append(str(params["args"]))
        elif method == "Log.entryAdded":
            self.wrong.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.wrong.append("a dialog: " + params["message"])
            self.call("Page.handleJavaScriptDialog", accept=True)

    def js(self, expression, fails=False):
        """Its value; of one that `fails` what it throws."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                         returnByValue=True, allowUnsafeEvalBlockedByCSP=False)
        if fails:
            return done["exceptionDetails"]["exception"]["description"]
        if "exceptionDetails" in done:
            raise AssertionError(str(done["exceptionDetails"]))
        return done["result"].get("value")

    def key(self, key, code=None):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        numbers = {"Enter": 13, "Tab": 9, "Escape": 27}
        common = {"key": key, "code": code or key,
                  "windowsVirtualKeyCode": numbers.get(key, ord(key[0].upper()))}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self, full=False, clip=None):
        more = {"clip": clip} if clip else {}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full, **more)
        return base64.b64decode(shot["data"])

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        del self.browser.pages[self.session]
