import CSodium

/// `H(label, …)`: BLAKE2b-256 over a PAE (RFC 7693), and `KDF(key, label, …)`: the same, keyed.
public enum Hash {
    /// BLAKE2b-256 of bytes that are a finished PAE.
    public static func digest(_ pae: PAE) -> Digest {
        let message = pae.finish()
        return unsafe Digest { output in
            // Fixed lengths that libsodium accepts: the return code can only be 0.
            _ = unsafe crypto_generichash(output, 32, message, UInt64(message.count), nil, 0)
        }
    }

    /// `H(label, …)` of pieces whose length is known, without an array; in a browser, where code has to travel, with
    /// one.
    /// - Parameters:
    ///   - pieces: how many follow the label.
    ///   - count: their bytes together.
    ///   - write: adds exactly these.
    public static func digest(
        _ label: Label, pieces: Int, count: Int, _ write: (inout PAECursor) -> Void
    ) -> Digest {
        #if hasFeature(Embedded)
            var pae = PAE(label, pieces: pieces, capacity: count + 8 * pieces + 64)
            write(&pae)
            return digest(pae)
        #else
            let length = PAECursor.length(of: label, pieces: pieces, count: count)
            return unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { buffer in
                var cursor = unsafe PAECursor(label, pieces: pieces, in: buffer)
                write(&cursor)
                cursor.finish()
                return unsafe Digest { output in
                    guard let bytes = buffer.baseAddress else { return }
                    _ = unsafe crypto_generichash(
                        output, 32, bytes.assumingMemoryBound(to: UInt8.self), UInt64(length), nil, 0)
                }
            }
        #endif
    }

    /// The same where the last piece is a key: the PAE has announced it.
    public static func digest(_ pae: PAE, followedBy secret: SecretBytes) -> Digest {
        let message = SecretBytes(joining: [SecretBytes(copying: pae.finish()), secret])
        return unsafe Digest { output in
            unsafe message.withPointer { _ = unsafe crypto_generichash(output, 32, $0, UInt64(message.count), nil, 0) }
        }
    }

    public static func digest(_ label: Label, _ pieces: [UInt8]...) -> Digest {
        var pae = PAE(label, pieces: pieces.count)
        for piece in pieces { pae.add(piece) }
        return digest(pae)
    }

    /// `H(label, left, right)`, the nodes of trees.
    public static func digest(_ label: Label, _ left: Digest, _ right: Digest) -> Digest {
        digest(label, pieces: 2, count: 2 * Digest.byteCount) { pae in
            pae.add(left)
            pae.add(right)
        }
    }

    /// 32 secret bytes from a key of 16 to 64 bytes.
    public static func derive(_ key: SecretBytes, _ pae: PAE) -> SecretBytes {
        precondition(key.count >= 16 && key.count <= 64, "BLAKE2b takes keys of 16 to 64 bytes")
        let message = pae.finish()
        return unsafe SecretBytes(count: 32) { output in
            unsafe key.withPointer { bytes in
                _ = unsafe crypto_generichash(output, 32, message, UInt64(message.count), bytes, key.count)
            }
        }
    }

    public static func derive(_ key: SecretBytes, _ label: Label, _ pieces: [UInt8]...) -> SecretBytes {
        var pae = PAE(label, pieces: pieces.count)
        for piece in pieces { pae.add(piece) }
        return derive(key, pae)
    }

    /// The same as a public value: for identifiers that a key gives (`recovery/id`, `link-id`).
    public static func identifier(_ key: SecretBytes, _ label: Label, _ pieces: [UInt8]...) -> Digest {
        var pae = PAE(label, pieces: pieces.count)
        for piece in pieces { pae.add(piece) }
        let derived = derive(key, pae)
        return unsafe Digest { output in unsafe derived.withPointer { unsafe output.update(from: $0, count: 32) } }
    }

    /// SHA-256 (FIPS 180-4), for asset chunks. The SDK may compute the same bytes by a faster library.
    public static func sha256(_ pae: PAE) -> Digest {
        let message = pae.finish()
        return unsafe Digest { output in
            _ = unsafe crypto_hash_sha256(output, message, UInt64(message.count))
        }
    }
}
