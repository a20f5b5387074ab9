"""Programs that a test starts: what they are told of the machine, where they listen, and their end."""

import contextlib
import http.server
import os
import signal
import socket
import subprocess
import threading


def environment(home, temporary, **more):
    """This one's, with folders of the test's own, and no setting of somebody who runs it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SEALKIT_")}
    return {**clean, "HOME": str(home), "TMPDIR": str(temporary), **more}


def free_port():
    """For programs that do not tell which port they were given."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def stop(process):
    """In good order; with whatever it started, where it does not end."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(40)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def serving(handler):
    """A server of HTTP in this process; gives its origin."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{site.server_address[1]}"
    finally:
        site.shutdown()
        site.server_close()
