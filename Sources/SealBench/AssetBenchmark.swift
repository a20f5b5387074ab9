import CSodium
import Crypto
import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import Synchronization

/// Assets: chunks sealed and hashed into the tree, on one core and on two, next to the two primitives alone; and file
/// to file next to `age`, which seals chunks of the same size by the same cipher, without a tree.
struct AssetBenchmark {
    private static let size = 64 << 20
    private let layout: AssetLayout
    private let cipher: AssetCipher

    init() {
        var random = SystemRandom()
        layout = AssetLayout(size: UInt64(Self.size))
        cipher = AssetCipher(
            fileKey: SecretBytes(random: &random), salt: SealPrimitives.Digest(random: &random), layout: layout)
    }

    func run(_ report: inout Report) throws {
        report.heading(
            "Assets: 64 MiB, as a multiple of the two primitives' time",
            "Bare: libsodium's ChaCha20-Poly1305 over each 64 KiB chunk, and swift-crypto's SHA-256 over the sealed chunk."
        )
        let source = Buffer(Self.size, filled: true)
        let target = Buffer(Int(layout.sealedBytes))
        let back = Buffer(Self.size)
        let count = layout.chunkCount
        func bare(_ chunks: Range<UInt64>) {
            let nonce = [UInt8](repeating: 1, count: 12)
            let key = [UInt8](repeating: 1, count: 32)
            for index in chunks {
                let sealed = target.part(index, 65_552)
                crypto_aead_chacha20poly1305_ietf_encrypt(
                    target.bytes(index, 65_552), nil, source.bytes(index, 65_536), 65_536, nil, 0, nil, nonce, key)
                var hash = SHA256()
                hash.update(bufferPointer: UnsafeRawBufferPointer(sealed))
                _ = hash.finalize()
            }
        }
        func seal(_ chunks: Range<UInt64>) throws { try sealChunks(chunks, source, target) }
        func open(_ chunks: Range<UInt64>) throws { try openChunks(chunks, target, back) }
        for cores in [1, 2] {
            let times = try measure(
                rounds: 5,
                [
                    { try Self.split(count, cores, bare) }, { try Self.split(count, cores, seal) },
                    { try Self.split(count, cores, open) },
                ])
            let megabytes = Double(Self.size) / 1e6
            let name = cores == 1 ? "one core" : "two cores"
            report.row("bare, \(name)", megabytes / times[0], "MB/s")
            // 90 % of what the two allow together.
            report.row(
                "sealed, \(name)", megabytes / times[1], "MB/s", ratio: times[1] / times[0], aim: .atMost(1 / 0.9))
            report.row(
                "opened, \(name)", megabytes / times[2], "MB/s", ratio: times[2] / times[0], aim: .atMost(1 / 0.9))
        }
        try againstAge(source, &report)
    }

    /// Bytes a second, in megabytes, that one core seals and hashes, and hashes and opens.
    func rates() throws -> (sealed: Double, opened: Double) {
        let (source, target, back) = (
            Buffer(Self.size, filled: true), Buffer(Int(layout.sealedBytes)), Buffer(Self.size)
        )
        let times = try measure(
            rounds: 3,
            [
                { try sealChunks(0..<layout.chunkCount, source, target) },
                { try openChunks(0..<layout.chunkCount, target, back) },
            ])
        let megabytes = Double(Self.size) / 1e6
        return (megabytes / times[0], megabytes / times[1])
    }

    private func sealChunks(_ chunks: Range<UInt64>, _ source: Buffer, _ target: Buffer) throws {
        for index in chunks {
            let sealed = target.part(index, 65_552)
            try cipher.seal(chunk: index, UnsafeRawBufferPointer(source.part(index, 65_536)), into: sealed)
            _ = try Self.leaf(UnsafeRawBufferPointer(sealed))
        }
    }

    private func openChunks(_ chunks: Range<UInt64>, _ target: Buffer, _ back: Buffer) throws {
        for index in chunks {
            let sealed = UnsafeRawBufferPointer(target.part(index, 65_552))
            _ = try Self.leaf(sealed)
            try cipher.open(chunk: index, sealed, into: back.part(index, 65_536))
        }
    }

    /// The SDK's own hash of a chunk: prefix, then the sealed bytes where they lie.
    private static func leaf(_ sealed: UnsafeRawBufferPointer) throws(SealError) -> SealPrimitives.Digest {
        var hash = SHA256()
        hash.update(data: AssetTree.leafPrefix(chunkBytes: sealed.count))
        hash.update(bufferPointer: sealed)
        return try SealPrimitives.Digest(Array(hash.finalize()))
    }

    private static func split(_ count: UInt64, _ cores: Int, _ body: @escaping (Range<UInt64>) throws -> Void) throws {
        guard cores > 1 else { return try body(0..<count) }
        nonisolated(unsafe) let work = body
        let failures = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 2) { half in
            do { try work(half == 0 ? 0..<count / 2 : count / 2..<count) } catch { failures.withLock { $0 += 1 } }
        }
        guard failures.withLock({ $0 == 0 }) else { throw SealError.malformed }
    }
}

// MARK: age

extension AssetBenchmark {
    private func againstAge(_ source: Buffer, _ report: inout Report) throws {
        guard let age = Self.tool("age"), let keygen = Self.tool("age-keygen") else {
            report.heading("age is not installed (`Tests/Support/setup age`): not compared.")
            return
        }
        report.heading(
            "The same file to file, as a multiple of age's time", "age, from Debian, to one recipient, without a tree.")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-age-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let plain = folder.appendingPathComponent("plain").path
        try Data(bytesNoCopy: source.base, count: source.count, deallocator: .none).write(
            to: URL(fileURLWithPath: plain))
        let (key, sealed, opened) = (folder.path + "/key", folder.path + "/sealed", folder.path + "/opened")
        try Self.run(keygen, ["-o", key])
        let text = try String(contentsOfFile: key, encoding: .utf8)
        guard
            let recipient = text.split(separator: " ").last(where: { $0.hasPrefix("age1") })?.prefix(while: {
                $0 != "\n"
            })
        else { return }
        let times = try measure(
            rounds: 3,
            [
                { try Self.run(age, ["-r", String(recipient), "-o", sealed + ".age", plain]) },
                { try sealFile(plain, to: sealed) },
                { try Self.run(age, ["-d", "-i", key, "-o", opened, sealed + ".age"]) },
                { try openFile(sealed, to: opened) },
            ])
        let megabytes = Double(Self.size) / 1e6
        report.row("age seals", megabytes / times[0], "MB/s")
        report.row("a file sealed and hashed", megabytes / times[1], "MB/s", ratio: times[1] / times[0])
        report.row("age opens", megabytes / times[2], "MB/s")
        report.row("a file checked and opened", megabytes / times[3], "MB/s", ratio: times[3] / times[2])
    }

    private func sealFile(_ from: String, to: String) throws {
        try copy(from, to, chunk: 65_536, made: 65_552) { index, plain, sealed in
            try cipher.seal(chunk: index, plain, into: sealed)
            _ = try Self.leaf(UnsafeRawBufferPointer(sealed))
        }
    }

    private func openFile(_ from: String, to: String) throws {
        try copy(from, to, chunk: 65_552, made: 65_536) { index, sealed, plain in
            _ = try Self.leaf(sealed)
            try cipher.open(chunk: index, sealed, into: plain)
        }
    }

    /// Sixteen chunks at a time, as the SDK reads and sends them.
    private func copy(
        _ from: String, _ to: String, chunk: Int, made: Int,
        _ body: (UInt64, UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
        let (input, output) = (open(from, O_RDONLY), open(to, O_WRONLY | O_CREAT | O_TRUNC, 0o600))
        defer {
            close(input)
            close(output)
        }
        let (taken, given) = (Buffer(chunk * 16), Buffer(made * 16))
        for start in stride(from: 0, to: layout.chunkCount, by: 16) {
            let count = min(16, layout.chunkCount - start)
            guard read(input, taken.base, Int(count) * chunk) == Int(count) * chunk else { throw SealError.malformed }
            for index in 0..<count {
                try body(start + index, UnsafeRawBufferPointer(taken.part(index, chunk)), given.part(index, made))
            }
            guard write(output, given.base, Int(count) * made) == Int(count) * made else { throw SealError.malformed }
        }
    }

    private static func tool(_ name: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/"].map { $0 + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static func run(_ tool: String, _ arguments: [String]) throws {
        if let index = arguments.firstIndex(of: "-o") { unlink(arguments[index + 1]) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
    }
}

private final class Buffer {
    let base: UnsafeMutableRawPointer
    let count: Int

    init(_ count: Int, filled: Bool = false) {
        self.count = count
        base = .allocate(byteCount: count, alignment: 64)
        // Touched: the first use of a page is not what is measured.
        memset(base, 0x61, count)
        if filled { randombytes_buf(base, count) }
    }

    deinit { base.deallocate() }

    func bytes(_ index: UInt64, _ size: Int) -> UnsafeMutablePointer<UInt8> {
        (base + Int(index) * size).assumingMemoryBound(to: UInt8.self)
    }

    func part(_ index: UInt64, _ size: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base + Int(index) * size, count: size)
    }
}
