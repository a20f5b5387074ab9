"""An authority for certificates, which nobody knows who is not told of it."""

import subprocess


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
