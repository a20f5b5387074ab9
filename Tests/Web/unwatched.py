"""A browser that tells of no request: what Playwright has it say of each costs its processors a tenth of what a page does."""

import collections
import contextlib
import json
import os
import subprocess
import tempfile

from browser import AUTHENTICATOR, CHROMIUM

# Nothing beside the page: no looking for updates, no greeting, no asking for the keys of the desktop.
OPTIONS = ["--headless", "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
           "--disable-default-apps", "--disable-field-trial-config", "--metrics-recording-only", "--password-store=basic", "--lang=en-GB"]


class Unwatched:
    """One tab, over Chromium's pipe for its tools."""

    def __init__(self, script):
        """`script` runs in every page before those of the page."""
        self.folder = tempfile.TemporaryDirectory(prefix="sealkit-unwatched-", ignore_cleanup_errors=True)
        reading, self.commands = os.pipe()
        self.answers, writing = os.pipe()
        # Chromium reads its third file and writes its fourth.
        shell = f"exec {CHROMIUM} \"$@\" 3<&{reading} 4>&{writing}"
        root = ["--no-sandbox"] if os.getuid() == 0 else []
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "chromium", *OPTIONS, *root, "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(reading, writing))
        os.close(reading)
        os.close(writing)
        self.buffer, self.count, self.session, self.events = b"", 0, None, collections.deque()
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page" and target["url"] == "about:blank")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.call("WebAuthn.enable")
        self.call("WebAuthn.addVirtualAuthenticator", options=AUTHENTICATOR)
        self.call("Page.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        self.call("Runtime.enable")

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != message["id"]:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _next(self):
        while b"\0" not in self.buffer:
            data = os.read(self.answers, 1 << 16)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, url, said=None):
        """Until the page says a word at its console; without one until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while True:
            event = self.events.popleft() if self.events else self._next()
            if said is None and event.get("method") == "Page.loadEventFired":
                return
            if event.get("method") == "Runtime.consoleAPICalled" and event["params"]["args"][0].get("value") == said:
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(EOFError, OSError):
            self.session = None
            self.call("Browser.close")
        self.process.wait(timeout=30)
        os.close(self.commands)
        os.close(self.answers)
        self.folder.cleanup()
