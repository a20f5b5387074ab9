"""A TLS server on loopback, for what a client makes of its certificate.

tls-server.py CERTIFICATE KEY HOW: prints its port and serves until it is ended. HOW is "answer", for a short answer that no SealKit
server gives, or "cut": it reads what comes and ends the connection without a word, as a network does that breaks.
"""

import socket
import ssl
import sys
import threading

certificate, key, how = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)


def serve(connection):
    try:
        secured = context.wrap_socket(connection, server_side=True)
        secured.recv(65536)
        if how == "answer":
            secured.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwhat?")
            secured.unwrap()
        secured.close()
    except OSError:
        connection.close()


while True:
    threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
