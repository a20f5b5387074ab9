import SealPrimitives
import SealService
import SealStorage

/// A file that is sealed to a recipient: 16 bytes that say so, a key of its own in a box, and what it holds as a stream
/// of messages of 64 KiB, each of which is verified before anything of it is used. What it is for goes into each: one
/// file does not open in another's place.
enum SealedFile {
    private static let magic = Array("SealKit sealed 1".utf8)
    private static let messageBytes = 1 << 16
    private static var boxBytes: Int { SecretStream.keyBytes + SealedBox.overhead }

    /// Whether a file says that it is one.
    static func isThere(at path: String) -> Bool {
        (try? FileReader(path).read(atMost: magic.count)) == magic
    }

    /// How long it is for so many bytes.
    static func size(of plain: Int64) -> Int64 {
        let messages = max(1, (plain - 1) / Int64(messageBytes) + 1)
        return Int64(magic.count + boxBytes + SecretStream.headerBytes) + plain
            + messages * Int64(SecretStream.overhead)
    }

    /// - Parameters:
    ///   - read: gives up to so many bytes, fewer only at the end.
    ///   - purpose: what it is for.
    /// - Throws: what `read` throws, `FileError`, `BackupError`.
    static func seal(
        _ read: (Int) throws -> [UInt8], for purpose: String, to recipient: BackupRecipient, into file: FileWriter
    ) throws {
        do {
            var random = SystemRandom()
            let key = SecretBytes(random: &random, count: SecretStream.keyBytes)
            var sealer = try StreamSealer(key: key)
            try file.write(magic + SealedBox.seal(key, to: recipient.publicKey) + sealer.header)
            let context = context(purpose)
            var next = try read(messageBytes)
            var isLast = false
            while !isLast {
                let following = next.count < messageBytes ? [] : try read(messageBytes)
                isLast = following.isEmpty
                try file.write(sealer.seal(next, isLast: isLast, associatedData: context))
                next = following
            }
        } catch is SealError {
            throw BackupError(
                .badInput, "nothing can be sealed to the recipient's key",
                remedy: "make another pair with sealkit backup key")
        }
    }

    /// - Parameter use: gets what it holds, from the beginning on. What it got is worth nothing where this throws.
    /// - Throws: `SealError.authenticationFailed`, what `use` throws, `FileError`.
    static func open(
        _ file: FileReader, for purpose: String, with key: BackupKey, _ use: ([UInt8]) throws -> Void
    ) throws {
        let head = try file.read(atMost: magic.count + boxBytes + SecretStream.headerBytes)
        guard head.starts(with: magic), head.count == magic.count + boxBytes + SecretStream.headerBytes else {
            throw SealError.authenticationFailed
        }
        let box = [UInt8](head[magic.count..<magic.count + boxBytes])
        let fileKey = try SealedBox.open(box, with: key.secretKey)
        var opener = try StreamOpener(key: fileKey, header: [UInt8](head.suffix(SecretStream.headerBytes)))
        let (context, sealedBytes) = (context(purpose), messageBytes + SecretStream.overhead)
        var next = try file.read(atMost: sealedBytes)
        var isLast = false
        while !isLast {
            let following = next.count < sealedBytes ? [] : try file.read(atMost: sealedBytes)
            isLast = following.isEmpty
            try use(try opener.open(next, isLast: isLast, associatedData: context))
            next = following
        }
    }

    private static func context(_ purpose: String) -> [UInt8] {
        var pae = PAE(pieces: 2)
        pae.add(ServerHash.Label.backupFile.rawValue)
        pae.add(purpose)
        return pae.finish()
    }
}
