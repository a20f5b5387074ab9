"""SealKit behind nginx and Caddy, with certificates of an ACME authority, as two servers, and restored, by the files of Examples/deploy."""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import queue
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from recovery import recovery
from servers import servers
from world import FILES, PATIENCE, Failure, World, adapted, free_port, nginx_files, start_nginx, stop, that, until


# MARK: Proxies


def nginx(world, port, server_port, certificate, key):
    return start_nginx(world, nginx_files(world, port, [server_port], certificate, key))


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

    # The web client comes through as it was sent: page, headers, and each file in each of its compressed forms.
    if "web client " in subprocess.run([world.binary, "--version"], capture_output=True, text=True).stdout:
        done = subprocess.run([world.binary, "web", "verify", origin, "--ca-file", world.authority.certificate], capture_output=True, text=True,
                              env=world.environment())
        that(done.returncode == 0, f"{name}: {done.stderr}")

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
    # The hook again, as the service runs it each day: it has nothing to do.
    brought = (settings / "certificate.pem").stat().st_ino
    subprocess.run(
        [hook], check=True, timeout=60,
        env=world.environment(
            LEGO_CERT_PATH=str(state / "certificates/localhost.crt"), LEGO_CERT_KEY_PATH=str(state / "certificates/localhost.key"),
            FOLDER=str(settings), GROUP=str(os.getgid())))
    that((settings / "certificate.pem").stat().st_ino == brought, "the hook brings over what is there")
    # By itself the server looks within a minute.
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
    parser.add_argument("--only", choices=["nginx", "caddy", "acme", "servers", "recovery"])
    arguments = parser.parse_args()
    # What it has started goes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failures = 0
    with tempfile.TemporaryDirectory(prefix="sealkit-deploy-") as folder:
        world = World(arguments.sealkit.resolve(), arguments.programs.resolve(), pathlib.Path(folder))
        # That needs a database that keeps its logs, and nothing else does.
        tests = {"recovery": lambda: recovery(world)} if "SEALKIT_TEST_POSTGRES_ARCHIVE" in os.environ else {
            "nginx": lambda: behind(world, "nginx", nginx), "caddy": lambda: behind(world, "caddy", caddy), "acme": lambda: acme(world),
            "servers": lambda: servers(world)}
        tests = {name: test for name, test in tests.items() if arguments.only in (None, name)}
        for name, test in tests.items():
            try:
                test()
            except (Failure, OSError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"error: {name}: {error}", flush=True)
            finally:
                world.processes.close()
    if tests:
        print(f"As it is deployed: {', '.join(tests)}: {len(tests) - failures} held, {failures} missed.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
