"""An SMTP server on loopback that puts each mail into a file, and finds the code in the newest one to an address."""

import pathlib
import shlex
import sys
import threading

from aiosmtpd.controller import Controller

from processes import free_port


class Mailbox:
    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()
        self.count = 0
        # aiosmtpd does not tell which port it was given, so one is chosen for it.
        self.port = free_port()
        self.controller = Controller(self, hostname="127.0.0.1", port=self.port)
        self.controller.start()

    async def handle_DATA(self, server, session, envelope):
        with self.lock:
            self.count += 1
            name = f"{self.count:03d}-{envelope.rcpt_tos[0]}"
        part = self.folder / (name + ".part")
        part.write_bytes(envelope.content)
        part.rename(self.folder / name)
        return "250 OK"

    def command(self, address):
        """What somebody does at their mailbox, for `--code-command`."""
        return shlex.join([sys.executable, str(pathlib.Path(__file__).resolve()), str(self.folder), address])

    def close(self):
        self.controller.stop()


def print_code(folder, address):
    import email
    import email.policy
    import re
    import time

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        mails = sorted(path for path in pathlib.Path(folder).iterdir() if path.name.endswith("-" + address))
        if mails:
            message = email.message_from_bytes(mails[-1].read_bytes(), policy=email.policy.default)
            code = re.search(r"^\s*(\d{8})\s*$", message.get_body(("plain",)).get_content(), re.MULTILINE)
            if code:
                print(code.group(1))
                return
        time.sleep(0.1)
    sys.exit("no mail with a code came")


if __name__ == "__main__":
    print_code(sys.argv[1], sys.argv[2])
