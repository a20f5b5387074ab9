"""What tests of deployment work with: a folder, programs in it, an authority for certificates, and nginx by the file of Examples/deploy."""

import contextlib
import json
import pathlib
import queue
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Demo"))

from authority import Authority  # noqa: E402
from processes import environment, free_port, stop  # noqa: E402, F401

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FILES = REPOSITORY / "Examples/deploy"
# Longer than anything takes here; what is waited for ends the waiting.
PATIENCE = 60


class Failure(Exception):
    """Something is not as the manual says."""


def that(condition, text):
    if not condition:
        raise Failure(text)


def until(condition, text):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise Failure(text)


class World:
    def __init__(self, binary, programs, folder):
        self.binary, self.programs, self.folder = binary, programs, folder
        (folder / "home").mkdir()
        self.authority = Authority(folder / "authority")
        self.processes = contextlib.ExitStack()

    def environment(self, **more):
        return environment(self.folder / "home", self.folder, **more)

    def start(self, name, *command, output=None, **environment):
        log = (self.folder / f"{name}.log").open("ab")
        process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output or log, stderr=log, env=self.environment(**environment),
            cwd=self.folder, start_new_session=True)
        self.processes.callback(stop, process)
        return process

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def serve(self, name, *options, listen="127.0.0.1:0"):
        """The port that a server listens at, and its process."""
        process = self.start(
            name, self.binary, "serve", "--data", self.folder / name, "--listen", listen, *options, output=subprocess.PIPE)
        line = process.stdout.readline().decode().strip()
        that(line.startswith("listening on http"), f"the server did not start: {self.log(name)[-500:]}")
        return int(line.rsplit(":", 1)[1]), process

    def sealkit(self, person, *arguments, certificates=None, code=0):
        command = [str(self.binary), *(str(one) for one in arguments), "--json", "--key-file", str(self.folder / f"{person}.json"),
                   "--ca-file", str(certificates or self.authority.certificate)]
        done = subprocess.run(command, capture_output=True, env=self.environment(), timeout=300)
        that(done.returncode == code, f"sealkit {' '.join(command[1:3])} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def curl(self, *arguments):
        done = subprocess.run(["curl", "--silent", "--show-error", "--max-time", str(PATIENCE), *arguments], capture_output=True, timeout=2 * PATIENCE)
        that(done.returncode == 0, f"curl {arguments}: {done.stderr.decode()}")
        return done.stdout.decode(errors="replace")

    def watch(self, person, name):
        """What `sealkit watch` prints, line by line."""
        process = self.start(name, self.binary, "watch", "--json", "--key-file", self.folder / f"{person}.json", "--ca-file",
                             self.authority.certificate, output=subprocess.PIPE)
        lines = queue.Queue()
        threading.Thread(target=lambda: [lines.put(json.loads(line)) for line in process.stdout], daemon=True).start()
        return lines


# MARK: Proxies


def adapted(file, replacements):
    text = (FILES / file).read_text()
    for old, new in replacements:
        that(old in text, f"{file} does not say {old} any more")
        text = text.replace(old, new)
    return text


def nginx_files(world, port, server_ports, certificate, key, down=()):
    folder = world.folder / "nginx-files"
    folder.mkdir(exist_ok=True)
    first, *others = (f"127.0.0.1:{each}{' down' if each in down else ''};" for each in server_ports)
    site = adapted("nginx.conf", [
        ("127.0.0.1:8080;\n    # Several", f"{first}\n    # Several"), ("# server 10.0.0.2:8080;", " ".join(f"server {each}" for each in others)), ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("notes.example.org;", "localhost;"),
        ("/etc/letsencrypt/live/notes.example.org/fullchain.pem", str(certificate)), ("/etc/letsencrypt/live/notes.example.org/privkey.pem", str(key))])
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log {folder}/access.log; {temporary}\n{site}\n}}\n")
    return folder


def start_nginx(world, files):
    # Without another user: this is whoever runs the tests.
    return world.start("nginx-program", world.programs / "sbin/nginx", "-p", files, "-e", files / "error.log", "-c", files / "nginx.conf")
