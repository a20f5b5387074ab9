"""A server, a mailbox, the owner at a command line, and guests' browsers: all traffic goes through a proxy that writes it down."""

import json
import pathlib
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Demo"))

from canaries import Canaries, link_secret, recovery_key_bytes, seed_bytes  # noqa: E402
from mailbox import Mailbox  # noqa: E402
from processes import environment, stop  # noqa: E402
from proxy import RecordingProxy  # noqa: E402


class Failure(Exception):
    """Something is not as these tests say it is."""


def that(condition, text):
    if not condition:
        raise Failure(text)


def wide(digits):
    """As a Japanese input method writes them."""
    return "".join(chr(ord(digit) - ord("0") + ord("\uff10")) for digit in digits)


class World:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.canaries = Canaries()
        for name in ("home", "tmp", "server", "traffic", "mail", "people"):
            (folder / name).mkdir()
        self.data, self.log = folder / "server/data", folder / "server/log"
        self.mailbox = Mailbox(folder / "mail")
        self.proxy = RecordingProxy(folder / "traffic")
        # Browsers have no passkeys for addresses that are numbers.
        self.origin = f"http://localhost:{self.proxy.port}"
        self.server = subprocess.Popen(
            [
                str(binary), "serve", "--data", str(self.data), "--listen", "127.0.0.1:0", "--origin", self.origin, "--smtp-url",
                f"smtp://127.0.0.1:{self.mailbox.port}", "--smtp-from", "codes@example.org", "--smtp-starttls", "off", "--log-level", "trace",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log.open("ab"), env=self.environment(), start_new_session=True)
        line = self.server.stdout.readline().decode().strip()
        that(line.startswith("listening on http://"), f"the server did not start: {self.log.read_text()[-500:]}")
        self.server_port = int(line.rsplit(":", 1)[1])
        self.proxy.target = self.server_port

    def environment(self):
        return environment(self.folder / "home", self.folder / "tmp")

    def person(self, name):
        return Person(self, name)

    def code(self, address, after=0):
        """The newest code that came to an address, once there are more mails than `after`."""
        import email
        import email.policy
        import re

        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            mails = sorted(path for path in (self.folder / "mail").iterdir() if path.name.endswith("-" + address))
            if len(mails) > after:
                message = email.message_from_bytes(mails[-1].read_bytes(), policy=email.policy.default)
                found = re.search(r"^\s*(\d{8})\s*$", message.get_body(("plain",)).get_content(), re.MULTILINE)
                if found:
                    return found.group(1)
            time.sleep(0.1)
        raise Failure(f"no mail with a code came to {address}")

    def places(self):
        """Everything that the server kept, logged, mailed, sent or received."""
        return {
            "database": list(self.data.glob("*.sqlite*")),
            "assets": [path for path in (self.data / "blobs").rglob("*") if path.is_file()],
            "secrets folder": [path for path in (self.folder / "server").glob("data.secrets/**/*") if path.is_file()],
            "log": [self.log],
            "mail": sorted((self.folder / "mail").iterdir()),
            "traffic": sorted((self.folder / "traffic").iterdir()),
        }

    def close(self):
        stop(self.server)
        self.proxy.close()
        self.mailbox.close()


class Person:
    """Somebody with a key file, at a command line."""

    def __init__(self, world, name, *more):
        self.world, self.more = world, more
        self.key_file = world.folder / "people" / name / "account.json"
        self.key_file.parent.mkdir(parents=True)

    def __call__(self, *arguments, text=None):
        done = subprocess.run(
            [str(self.world.binary), *arguments, "--json", "--key-file", str(self.key_file), *map(str, self.more)], input=text.encode() if text else b"",
            capture_output=True, env=self.world.environment(), timeout=1200)
        that(done.returncode == 0, f"sealkit {' '.join(arguments[:2])} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def approving(self, invitation):
        """A process that shows the digits, and is to be told them."""
        return subprocess.Popen(
            [str(self.world.binary), "device", "approve", invitation, "--json", "--key-file", str(self.key_file)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.world.environment())

    def create_account(self):
        made = self("account", "create", "--server", self.world.origin)[0]
        self.user = made["userRecordName"]
        return self

    def save(self, name, *arguments, zone="Trip", kind="Note"):
        self("record", "save", "--zone", zone, "--type", kind, "--name", name, *arguments)

    def invite(self, address, zone="Trip", permission="readOnly"):
        url = self("share", "invite", zone, address, "--permission", permission)[0]["url"]
        part, raw = link_secret(url)
        self.world.canaries.secret(f"the URL to {address}, after the #", part)
        self.world.canaries.secret(f"the URL to {address}, its secret", raw)
        return url
