import Foundation
import SealPrimitives
import SealStorage
import SealSystem

/// A token of the operator's in the secrets folder: a prefix and 32 random bytes in base64url, one line. The server
/// keeps its hash.
struct TokenFile {
    let prefix: String
    let label: ServerHash.Label

    /// Reads the token's hash, or makes a token where there is none.
    /// - Throws: `SecretFileError` for a file that others may read, or that holds no such token; `FileError`.
    func loadOrCreate(at path: String, randomBytes: (Int) -> [UInt8]) throws -> [UInt8] {
        if FileStatus(path: path) == nil, errno == ENOENT {
            var contents = Array((prefix + Base64URL.encode(SecretBytes(copying: randomBytes(32))) + "\n").utf8)
            defer { wipe(&contents) }
            try SecretFile.create(at: path, contents: contents)
        }
        var contents = try SecretFile.contents(of: path, atMost: 256)
        defer { wipe(&contents) }
        let line = String(decoding: contents.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard let hash = hash(line) else { throw SecretFileError.malformedToken(path: path) }
        return hash
    }

    /// Nil for a text that is no such token.
    func hash(_ token: some StringProtocol) -> [UInt8]? {
        guard token.utf8.count == prefix.utf8.count + 43, token.hasPrefix(prefix),
            var bytes = try? Base64URL.decode(token.dropFirst(prefix.count))
        else { return nil }
        defer { wipe(&bytes) }
        return ServerHash.digest(label, bytes)
    }
}
