"""A TLS server on loopback, for what a client makes of its certificate.

tls-server.py CERTIFICATE KEY HOW: prints its port and serves until it is ended. HOW is "answer", for a short answer that no SealKit
server gives; "cut": it reads what comes and ends the connection without a word, as a network does that breaks; or "status=TEXT": it
speaks HTTP/2, and answers each request with that status and nothing else.
"""

import socket
import ssl
import sys
import threading

certificate, key, how = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
status = how.removeprefix("status=") if how.startswith("status=") else None
if status is not None:
    context.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)


def exactly(connection, count):
    got = b""
    while len(got) < count:
        more = connection.recv(count - len(got))
        if not more:
            raise ConnectionError
        got += more
    return got


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def answer_with_status(connection):
    """RFC 9113: frames; RFC 7541, section 6.2.2: a name of the static table (8, `:status`) and a value as it is."""
    exactly(connection, len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    settings, headers, end_of_stream_and_headers = 4, 1, 5
    connection.sendall(frame(settings, 0, 0))
    while True:
        head = exactly(connection, 9)
        exactly(connection, int.from_bytes(head[:3], "big"))
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF
        if kind == settings and not flags & 1:
            connection.sendall(frame(settings, 1, 0))
        elif kind == headers:
            value = status.encode()
            connection.sendall(frame(headers, end_of_stream_and_headers, stream, bytes([8, len(value)]) + value))


def serve(connection):
    try:
        secured = context.wrap_socket(connection, server_side=True)
        if status is not None:
            answer_with_status(secured)
        secured.recv(65536)
        if how == "answer":
            secured.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwhat?")
            secured.unwrap()
        secured.close()
    except OSError:
        connection.close()


while True:
    threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
