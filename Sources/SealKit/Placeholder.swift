import AsyncHTTPClient
import Crypto
import GRDB
import NIOSSL
