"""A TCP proxy on loopback that writes down every byte, each direction of each connection in a file of its own."""

import socket
import threading


class RecordingProxy:
    def __init__(self, folder):
        self.folder = folder
        self.target = None
        self.count = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except (OSError, TypeError):
                client.close()
                continue
            self.count += 1
            name = f"{self.count:05d}"
            threading.Thread(target=self._copy, args=(client, server, f"{name}-up"), daemon=True).start()
            threading.Thread(target=self._copy, args=(server, client, f"{name}-down"), daemon=True).start()

    def _copy(self, source, target, name):
        with open(self.folder / name, "wb", buffering=0) as record:
            try:
                while data := source.recv(1 << 16):
                    record.write(data)
                    target.sendall(data)
            except OSError:
                pass
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()
