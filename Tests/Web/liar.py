"""A server that lies: what passes on calls to the real one, and answers the web client's with what a test makes of them."""

import contextlib
import http.client
import http.server
import re
import threading


class Message:
    """A message of protobuf, as the list of its fields: number, wire type, and a number or bytes."""

    def __init__(self, data=b""):
        self.fields, offset = [], 0

        def varint():
            nonlocal offset
            value = shift = 0
            while True:
                byte = data[offset]
                offset += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    return value

        while offset < len(data):
            tag = varint()
            kind = tag & 7
            if kind == 0:
                value = varint()
            else:
                count = {1: 8, 5: 4}[kind] if kind != 2 else varint()
                value, offset = data[offset:offset + count], offset + count
            self.fields.append([tag >> 3, kind, value])

    @property
    def bytes(self):
        def varint(value):
            out = bytearray()
            while value > 0x7F:
                out.append(value & 0x7F | 0x80)
                value >>= 7
            return bytes(out) + bytes([value])

        return b"".join(
            varint(number << 3 | kind) + (varint(value) if kind == 0 else varint(len(value)) + value if kind == 2 else value)
            for number, kind, value in self.fields)

    def all(self, number):
        return [value for one, _, value in self.fields if one == number]

    def get(self, number, otherwise=b""):
        return (self.all(number) or [otherwise])[-1]

    def set(self, number, value):
        """In place of all that the field had; None for nothing."""
        place = next((index for index, field in enumerate(self.fields) if field[0] == number), len(self.fields))
        self.fields = [field for field in self.fields if field[0] != number]
        if value is not None:
            self.fields.insert(place, [number, 0 if isinstance(value, int) else 2, value])
        return self

    def add(self, number, value):
        self.fields.append([number, 0 if isinstance(value, int) else 2, value])
        return self

    def edit(self, number, change):
        """`change` is told each message of a field, and gives what is to stand there: a message, or None for nothing."""
        kept = []
        for field in self.fields:
            if field[0] == number:
                made = change(Message(field[2]))
                if made is None:
                    continue
                field = [number, 2, made.bytes]
            kept.append(field)
        self.fields = kept
        return self


def flip(data, place=-1):
    """With one bit that is another."""
    changed = bytearray(data)
    changed[place] ^= 1
    return bytes(changed)


class Liar:
    """`lie` says what becomes of the web client's calls of a route; everything else passes as it is."""

    def __init__(self, target):
        self.target, self.lies, self.sent, self.failures = target, [], 0, []
        liar = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_all(self):
                liar._answer(self)

            do_GET = do_POST = do_PUT = do_HEAD = do_OPTIONS = handle_all

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @contextlib.contextmanager
    def lie(self, route, change=lambda _, ask: ask(), headers=lambda headers: headers, to=lambda _: True):
        """`change` is told the request's body and a function that asks the real server, and gives the answer's bytes, or an iterator that
        need not end; behind a status where it is not the server's. `headers` is told the answer's, in pairs; `to` those of the request, and
        whether it is lied to."""
        lie = (route, change, headers, to)
        self.lies.append(lie)
        try:
            yield
        finally:
            self.lies.remove(lie)

    @staticmethod
    def _body(handler):
        if "chunked" not in handler.headers.get("transfer-encoding", ""):
            return handler.rfile.read(int(handler.headers.get("content-length", 0)))
        body = b""
        while size := int(handler.rfile.readline().split(b";")[0], 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        handler.rfile.readline()
        return body

    def _answer(self, handler):
        body = self._body(handler)
        asked = []

        def ask():
            connection = http.client.HTTPConnection("127.0.0.1", self.target, timeout=60)
            hop = ("connection", "transfer-encoding", "content-length", "expect")
            headers = {name: value for name, value in handler.headers.items() if name.lower() not in hop}
            connection.request(handler.command, handler.path, body if body or handler.command in ("POST", "PUT") else None, headers)
            answer = connection.getresponse()
            asked.append((answer.status, answer.getheaders(), answer.read()))
            connection.close()
            return asked[-1][2]

        path = handler.path.split("?")[0]
        is_page = handler.headers.get("sealkit-client", "").startswith("web/") or path.startswith(("/w/", "/s/"))
        changes = [(change, headers) for route, change, headers, to in self.lies if is_page and route in path and to(handler.headers)]
        # A stream has no end to wait for: the page looks for changes when it is told to.
        if is_page and path.endswith("/notifications") and not changes:
            changes = [(lambda *_: (503, b""), lambda headers: headers)]
        try:
            made = changes[-1][0](body, ask) if changes else ask()
            is_download = handler.command == "GET" and re.search("/assets/[^/]+/[^/]+/[^/]+$", path)
            media = "application/octet-stream" if is_download else "application/x-protobuf"
            status, headers, _ = asked[-1] if asked else (200, [("Content-Type", media)], b"")
            if isinstance(made, tuple):
                status, made = made
            if changes:
                headers = changes[-1][1](headers)
            handler.send_response(status)
            for name, value in headers:
                if name.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                    handler.send_header(name, value)
            if isinstance(made, (bytes, bytearray)):
                handler.send_header("Content-Length", str(len(made)))
                handler.end_headers()
                if handler.command != "HEAD":
                    handler.wfile.write(made)
                return
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            self.sent = 0
            for chunk in made:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                self.sent += len(chunk)
            handler.wfile.write(b"0\r\n\r\n")
        except (ConnectionError, http.client.HTTPException):
            handler.close_connection = True
        except Exception as error:  # A lie that the test itself has wrong.
            self.failures.append(error)
            handler.close_connection = True

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        if self.failures:
            raise self.failures[0]
