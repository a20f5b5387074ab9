"""SealKit behind nginx and Caddy, with certificates of an ACME authority, and as two servers, by the files of Examples/deploy."""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Demo"))

from processes import environment, free_port, stop  # noqa: E402

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


class Authority:
    """Signs certificates for localhost."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.certificate = folder / "authority.pem"
        self.run("req", "-x509", "-subj", "/CN=An authority of tests", "-days", "2", "-keyout", folder / "authority.key", "-out", self.certificate,
                 "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")

    def run(self, command, *arguments):
        options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"] if command == "req" else []
        subprocess.run(["openssl", command, *options, *arguments], check=True, capture_output=True)

    def sign(self, name):
        certificate, key, request = (self.folder / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
        extensions = self.folder / "extensions"
        extensions.write_text("subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n")
        self.run("req", "-subj", "/CN=localhost", "-keyout", key, "-out", request)
        self.run("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.folder / "authority.key", "-CAcreateserial", "-days", "1",
                 "-extfile", extensions, "-out", certificate)
        return certificate, key


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


def nginx(world, port, server_port, certificate, key):
    folder = nginx_files(world, port, [server_port], certificate, key)
    # Without another user: this is whoever runs the tests.
    return world.start("nginx-program", world.programs / "sbin/nginx", "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf")


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


def caddy(world, port, server_port, certificate, key):
    file = world.folder / "Caddyfile"
    site = adapted("Caddyfile", [
        ("127.0.0.1:8080", f"127.0.0.1:{server_port}"),
        ("\nnotes.example.org {\n", f"\nhttps://localhost:{port} {{\n\tbind 127.0.0.1\n\ttls {certificate} {key}\n")])
    file.write_text(f"{{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}}\n{site}")
    data = world.folder / "caddy-files"
    return world.start("caddy-program", world.programs / "bin/caddy", "run", "--adapter", "caddyfile", "--config", file,
                       XDG_DATA_HOME=str(data), XDG_CONFIG_HOME=str(data))


def behind(world, name, program):
    port = free_port()
    origin = f"https://localhost:{port}"
    certificate, key = world.authority.sign(name)
    server_port, server = world.serve(
        name, "--origin", origin, "--behind-proxy", "--anonymous-rate", "1", "--shutdown-grace", "1")
    proxy = program(world, port, server_port, certificate, key)
    trusted = ["--cacert", str(world.authority.certificate)]

    def is_up():
        that(proxy.poll() is None, f"{name} has ended: {world.log(f'{name}-program')[-1000:]}")
        return subprocess.run(["curl", "--silent", "--output", "/dev/null", *trusted, f"{origin}/health"]).returncode == 0

    until(is_up, f"{name} does not answer")
    version = world.curl(*trusted, "--output", "/dev/null", "--write-out", "%{http_version}", f"{origin}/health")
    that(version == "2", f"{name} speaks HTTP/{version}")

    # An account, a file of many parts, and the same bytes back.
    person = f"{name}-anna"
    world.sealkit(person, "account", "create", "--server", origin)
    world.sealkit(person, "zone", "create", "Trip")
    large = world.folder / f"{name}-large"
    with large.open("wb") as file:
        for _ in range(40):
            file.write(os.urandom(1 << 20))
    world.sealkit(person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", "scan", "--asset", f"file={large}")
    back = world.folder / f"{name}-back"
    world.sealkit(person, "record", "asset", "scan", "file", "--zone", "Trip", "--output", back)
    that(hashlib.sha256(large.read_bytes()).digest() == hashlib.sha256(back.read_bytes()).digest(), f"{name}: the file came back as another one")
    large.unlink()
    back.unlink()

    # A stream says what happens as it happens, though it does not end.
    device = f"{name}-second"
    (world.folder / f"{device}.json").write_bytes((world.folder / f"{person}.json").read_bytes())
    os.chmod(world.folder / f"{device}.json", 0o600)
    world.sealkit(person, "subscription", "create", "everything")
    lines = world.watch(device, f"{name}-watch")
    count = 0

    def expect_to_be_told(when):
        """Saves until the stream says so: it may not be there yet when the first record is saved."""
        nonlocal count
        while not lines.empty():
            lines.get()
        deadline = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < deadline:
            count += 1
            world.sealkit(person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", f"n{count}", "--seal", "title=x")
            with contextlib.suppress(queue.Empty):
                return lines.get(timeout=3)
        raise Failure(f"{name}: the event stream said nothing {when}")

    expect_to_be_told("")
    # It is there by now: what is said next comes without waiting for more of it, as a proxy that buffers would.
    with contextlib.suppress(queue.Empty):
        while True:
            lines.get(timeout=2)
    world.sealkit(person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", "at-once", "--seal", "title=x")
    try:
        lines.get(timeout=10)
    except queue.Empty:
        raise Failure(f"{name}: the event stream waits for more before it says something") from None

    # The server goes, and comes back: whoever watches is told again, and nobody takes the proxy's page for an answer.
    stop(server)
    refused = world.curl(*trusted, "--output", "/dev/null", "--write-out", "%{http_code}", f"{origin}/health")
    that(refused in ("502", "503"), f"{name}: {refused} without a server")
    world.sealkit(person, "record", "get", "n1", "--zone", "Trip", code=69)
    world.serve(name, "--origin", origin, "--behind-proxy", "--anonymous-rate", "1", listen=f"127.0.0.1:{server_port}")
    until(lambda: "200" == world.curl(*trusted, "--output", "/dev/null", "--write-out", "%{http_code}", f"{origin}/health"),
          f"{name}: no answer after the server has come back")
    world.sealkit(person, "record", "get", "n1", "--zone", "Trip")
    expect_to_be_told("after the server had come back")

    # Limits count clients by their own addresses, whatever they say of themselves.
    def remaining(address, said):
        answer = world.curl(
            *trusted, "--interface", address, "--header", f"X-Forwarded-For: {said}", "--dump-header", "-", "--output", "/dev/null",
            f"{origin}/1/limits")
        found = re.search(r"^x-ratelimit-remaining: ([0-9]+)", answer, re.MULTILINE | re.IGNORECASE)
        that(found, f"{name}: an answer without what is left of the limit: {answer}")
        return int(found[1])

    first, second, third = (remaining("127.0.0.2", f"203.0.113.{index}") for index in range(3))
    that(first > second > third, f"{name}: a client that says to be another each time is not counted as one: {first}, {second}, {third}")
    other = remaining("127.0.0.3", "127.0.0.2")
    that(other >= first, f"{name}: another client pays for the first one's requests: {other} are left to it")
    stop(proxy)
    print(f"behind {name}: HTTP/2, a file of 40 MiB, an event stream, a restart, and clients by their addresses", flush=True)


# MARK: Several servers


class Postgres:
    """The one that Tests/Support/postgres runs beside this, with a standby that waits for each commit."""

    def __init__(self):
        url = os.environ["SEALKIT_TEST_POSTGRES"]
        self.socket = url.split("host=")[1]
        self.data = pathlib.Path(os.environ["SEALKIT_TEST_POSTGRES_DATA"])
        # Acknowledged means: on two disks.
        self.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.run("SELECT pg_reload_conf()")
        self.run("CREATE DATABASE sealkit TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        self.url = f"postgresql://postgres@/sealkit?host={self.socket},{self.socket}/standby"

    def run(self, statement):
        subprocess.run(["psql", "--no-psqlrc", "--quiet", "--host", self.socket, "--username", "postgres", "--command", statement], check=True,
                       capture_output=True, timeout=PATIENCE)

    def fail_over(self):
        """The primary is killed, and the standby takes its place."""
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        subprocess.run([REPOSITORY / "Tests/Support/postgres", "--promote", self.data.parent / "standby"], check=True, capture_output=True,
                       timeout=PATIENCE)


class Saves:
    """Somebody who saves records one after the other, and goes on whatever happens: what was said to be saved has to be there."""

    def __init__(self, world, person):
        self.world, self.person = world, person
        self.saved, self.failures, self.isEnding = [], [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        number = 0
        while not self.isEnding.is_set():
            number += 1
            try:
                self.world.sealkit(
                    self.person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", f"s{number}", "--seal", f"title={number}")
                self.saved.append(f"s{number}")
            except Failure as failure:
                self.failures.append(str(failure))

    def more(self, count, text):
        before = len(self.saved)
        until(lambda: len(self.saved) >= before + count, text)

    def end(self):
        self.isEnding.set()
        self.thread.join(timeout=2 * PATIENCE)


def servers(world):
    postgres = Postgres()
    credentials = pathlib.Path(os.environ["SEALKIT_TEST_S3_FOLDER"]) / "credentials"
    port, *ports = (free_port() for _ in range(3))
    origin = f"https://localhost:{port}"
    certificate, key = world.authority.sign("servers")
    options = ["--origin", origin, "--behind-proxy", "--shutdown-grace", "2", "--database-url", postgres.url, "--blobs",
               os.environ["SEALKIT_TEST_S3"], "--s3-credentials", credentials]

    def serve(number):
        return world.serve(f"server{number}", *options, listen=f"127.0.0.1:{ports[number]}")[1]

    running = [serve(0)]
    # As the manual has it: the second one has the secrets of the first.
    shutil.copytree(world.folder / "server0.secrets", world.folder / "server1.secrets")
    running.append(serve(1))
    files = nginx_files(world, port, ports, certificate, key)
    proxy = world.start("nginx-program", world.programs / "sbin/nginx", "-p", files, "-e", files / "error.log", "-c", files / "nginx.conf")

    def workers():
        return set(pathlib.Path(f"/proc/{proxy.pid}/task/{proxy.pid}/children").read_text().split())

    def hand_to(down):
        """The proxy gives requests to the others alone."""
        nginx_files(world, port, ports, certificate, key, down)
        before = workers()
        proxy.send_signal(signal.SIGHUP)
        until(lambda: workers() - before, "nginx did not read its settings again")
        # What it is handing over by the former ones.
        time.sleep(1)

    trusted = ["--cacert", str(world.authority.certificate)]
    until(lambda: subprocess.run(["curl", "--silent", "--output", "/dev/null", *trusted, f"{origin}/health"]).returncode == 0, "nginx does not answer")

    person, device = "servers-anna", "servers-second"
    world.sealkit(person, "account", "create", "--server", origin)
    world.sealkit(person, "zone", "create", "Trip")
    large = world.folder / "servers-large"
    large.write_bytes(os.urandom(20 << 20))
    world.sealkit(person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", "scan", "--asset", f"file={large}")
    (world.folder / f"{device}.json").write_bytes((world.folder / f"{person}.json").read_bytes())
    os.chmod(world.folder / f"{device}.json", 0o600)
    world.sealkit(person, "subscription", "create", "everything")
    lines = world.watch(device, "servers-watch")

    saves = Saves(world, person)
    saves.more(3, "nothing is saved")
    for number in (0, 1):
        # One is killed, and comes back; the other goes on meanwhile.
        running[number].kill()
        running[number].wait()
        saves.more(3, f"nothing is saved without server {number}")
        running[number] = serve(number)
        saves.more(2, f"nothing is saved once server {number} is back")
    for number in (0, 1):
        # As for an upgrade: one after the other, taken out of the proxy before, and nobody is refused.
        before = len(saves.failures)
        hand_to(down=[ports[number]])
        stop(running[number])
        saves.more(3, f"nothing is saved while server {number} is upgraded")
        running[number] = serve(number)
        hand_to(down=[])
        that(len(saves.failures) == before, f"somebody was refused while server {number} was upgraded: {saves.failures[-1:]}")
    postgres.fail_over()
    saves.more(3, "nothing is saved after the database has failed over")
    saves.end()
    # For as long as the command tries again, and no longer, the server may be away.
    others = [failure for failure in saves.failures if "ended with 69" not in failure]
    that(not others, f"a save failed in another way than with a server that is away: {others[:1]}")
    that(all(each.poll() is None for each in running), "a server has ended")
    rows = world.sealkit(person, "record", "list", "--zone", "Trip")
    names = {row["record"]["recordName"] for row in rows if "record" in row}
    lost = [name for name in saves.saved if name not in names]
    that(not lost, f"{len(lost)} of {len(saves.saved)} saved records are not there: {lost[:5]}")
    back = world.folder / "servers-back"
    world.sealkit(person, "record", "asset", "scan", "file", "--zone", "Trip", "--output", back)
    that(back.read_bytes() == large.read_bytes(), "the file came back as another one")
    # The stream was cut with its server, and goes on at the other.
    while not lines.empty():
        lines.get()
    world.sealkit(person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", "last", "--seal", "title=x")
    try:
        lines.get(timeout=PATIENCE)
    except queue.Empty:
        raise Failure("the event stream said nothing after all that") from None
    print(f"two servers on a replicated database: {len(saves.saved)} saves, none lost, while both were killed, upgraded, and the database failed over",
          flush=True)


# MARK: ACME


def serial(port, certificates):
    """Of the certificate that the server shows, which has to be an authority's."""
    context = ssl.create_default_context(cafile=certificates)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain, context.wrap_socket(plain, server_hostname="localhost") as secured:
        return secured.getpeercert()["serialNumber"]


def acme(world):
    pebble_port, management, challenge, port = (free_port() for _ in range(4))
    certificate, key = world.authority.sign("pebble")
    configuration = world.folder / "pebble.json"
    configuration.write_text(json.dumps({"pebble": {
        "listenAddress": f"127.0.0.1:{pebble_port}", "managementListenAddress": f"127.0.0.1:{management}", "certificate": str(certificate),
        "privateKey": str(key), "httpPort": challenge, "tlsPort": free_port(), "ocspResponderURL": "", "externalAccountBindingRequired": False}}))
    # It refuses some good answers on purpose, and sleeps between others, unless told not to.
    pebble = world.start("pebble", world.programs / "bin/pebble", "-config", configuration, PEBBLE_VA_NOSLEEP="1", PEBBLE_WFE_NONCEREJECT="0")
    issuer = world.folder / "issuer.pem"

    def has_started():
        that(pebble.poll() is None, f"pebble has ended: {world.log('pebble')[-500:]}")
        return subprocess.run(["curl", "--silent", "--fail", "--cacert", str(world.authority.certificate), "--output", str(issuer),
                               f"https://localhost:{management}/roots/0"]).returncode == 0

    until(has_started, "pebble does not answer")
    settings = world.folder / "etc"
    settings.mkdir()
    state = world.folder / "lego"

    def lego(*command):
        done = subprocess.run(
            [world.programs / "bin/lego", "--path", state, "--email", "you@example.org", "--domains", "localhost", "--server",
             f"https://localhost:{pebble_port}/dir", "--http", "--http.port", f"127.0.0.1:{challenge}", "--accept-tos", *command],
            capture_output=True, timeout=120,
            env=world.environment(LEGO_CA_CERTIFICATES=str(world.authority.certificate), FOLDER=str(settings), GROUP=str(os.getgid())))
        that(done.returncode == 0, f"lego {command}: {done.stderr.decode(errors='replace')[-1000:]}")

    hook = str(FILES / "renewed")
    lego("run", "--run-hook", hook)
    that((settings / "key.pem").stat().st_mode & 0o777 == 0o640, "the key may be read by others")
    origin = f"https://localhost:{port}"
    _, server = world.serve(
        "acme", "--origin", origin, "--tls-certificate", settings / "certificate.pem", "--tls-key", settings / "key.pem",
        listen=f"127.0.0.1:{port}")
    first = serial(port, issuer)
    person = "acme-anna"
    world.sealkit(person, "account", "create", "--server", origin, certificates=issuer)
    # It waits for a while of its own choice before, unless told not to.
    lego("renew", "--no-random-sleep", "--days", "100000", "--renew-hook", hook)
    # As the hook does where systemd runs the server; without that the server looks by itself within a minute.
    os.kill(server.pid, signal.SIGHUP)
    second = until(lambda: (found := serial(port, issuer)) != first and found, "the renewed certificate is not shown")
    that(second != first, "the certificate is the same")
    world.sealkit(person, "zone", "create", "Trip", certificates=issuer)
    that(server.poll() is None, "the server has ended")
    print("with certificates of an ACME authority: issued, and renewed without a restart", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sealkit", required=True, type=pathlib.Path)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--only", choices=["nginx", "caddy", "acme", "servers"])
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="sealkit-deploy-") as folder:
        world = World(arguments.sealkit.resolve(), arguments.programs.resolve(), pathlib.Path(folder))
        tests = {"nginx": lambda: behind(world, "nginx", nginx), "caddy": lambda: behind(world, "caddy", caddy), "acme": lambda: acme(world),
                 "servers": lambda: servers(world)}
        for name, test in tests.items():
            if arguments.only not in (None, name):
                continue
            try:
                test()
            except (Failure, OSError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"error: {name}: {error}", flush=True)
            finally:
                world.processes.close()
    print(f"As it is deployed: {len(tests) - failures if arguments.only is None else 1 - failures} ways, {failures} missed.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
