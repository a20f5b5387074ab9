import CWebBundle
import NIOCore
package import SealPrimitives
import SealService

/// The web client as it is built into this program: its files, under one hash that names them all.
package struct WebBundle: Sendable {
    struct File: Sendable {
        let type: String
        let sha256: Digest
        let plain: ByteBuffer
        let gzip: ByteBuffer
        let brotli: ByteBuffer
    }

    /// SHA-256 of the manifest: of each file a line with its hash, its type and its name, ascending by name.
    package let hash: Digest
    let files: [String: File]
    /// The page at a share's URL, in which marks stand for what only whoever shows it knows.
    private let page: String

    private static let bundleMark = "{bundle}"
    private static let serverMark = "{server}"
    private static let callsMark = "{calls}"
    static let appsMark = "<!-- apps -->"

    /// The archive has something else in it than `Web/build` writes.
    struct Malformed: Error, CustomStringConvertible {
        var description: String {
            "the web client that is built into this program cannot be read: run make web, and build the program again"
        }
    }

    private static let magic = "sealkit web bundle 1"
    /// More than the magic and the hash take.
    private static let headBytes = 64
    private static let pageName = "share.html"
    private static let mostBytes = 16 << 20

    /// What this program has; nil where it was built without the web client.
    /// - Throws: `Malformed`.
    package static func built() throws -> WebBundle? { try builtArchive.map { try WebBundle(archive: [UInt8]($0)) } }

    /// The same's hash alone, which stands at the archive's beginning.
    /// - Throws: `Malformed`.
    package static func builtHash() throws -> Digest? {
        try builtArchive.map { archive in
            var reader = CanonicalReader([UInt8](archive.prefix(headBytes)))
            do throws(SealError) { return try hash(in: &reader) } catch { throw Malformed() }
        }
    }

    private static var builtArchive: UnsafeBufferPointer<UInt8>? {
        var count = 0
        guard let bytes = sealkit_web_bundle(&count), count > 0 else { return nil }
        return UnsafeBufferPointer(start: bytes, count: count)
    }

    private static func hash(in reader: inout CanonicalReader) throws(SealError) -> Digest {
        guard try reader.string(atMost: magic.utf8.count) == magic else { throw .malformed }
        return try reader.digest()
    }

    /// - Parameter archive: as `Web/build` writes it.
    /// - Throws: `Malformed`.
    package init(archive: [UInt8]) throws {
        do throws(SealError) { self = try Self.read(archive) } catch { throw Malformed() }
    }

    private init(hash: Digest, files: [String: File], page: String) {
        (self.hash, self.files, self.page) = (hash, files, page)
    }

    private static func read(_ archive: [UInt8]) throws(SealError) -> WebBundle {
        var reader = CanonicalReader(archive)
        let hash = try hash(in: &reader)
        var files: [String: File] = [:]
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 52)) {
            let name = try reader.string(atMost: 255)
            let file = File(
                type: try reader.string(atMost: 255), sha256: try reader.digest(),
                plain: ByteBuffer(bytes: try reader.blob(atMost: mostBytes)),
                gzip: ByteBuffer(bytes: try reader.blob(atMost: mostBytes)),
                brotli: ByteBuffer(bytes: try reader.blob(atMost: mostBytes)))
            guard files.updateValue(file, forKey: name) == nil else { throw .malformed }
        }
        try reader.finish()
        // It is shown at other paths, with what the operator has set.
        guard let page = files.removeValue(forKey: pageName) else { throw .malformed }
        return WebBundle(hash: hash, files: files, page: String(buffer: page.plain))
    }
}

extension WebBundle {
    /// The page at a share's URL.
    /// - Parameters:
    ///   - server: whose shares it shows, and how it is called.
    ///   - apps: the operator's, as HTML.
    func page(of server: WebServer, apps: String) -> String {
        page.replacing(Self.bundleMark, with: hash.hex).replacing(Self.serverMark, with: HTML.escape(server.origin))
            .replacing(Self.callsMark, with: HTML.escape(server.calls))
            .replacing(Self.appsMark, with: apps)
    }

    /// What the program says of it beside its version.
    package static func description(of hash: Digest?) -> String {
        hash.map { "web client \($0.hex)" } ?? "built without the web client"
    }
}
