import Foundation
import NIOCore
import SealPrimitives
import Synchronization
import Testing

@testable import SealServer
@testable import SealStorage

/// The stores of blobs that every test of one runs on.
enum TestedStore: String, CaseIterable, CustomTestStringConvertible {
    case folder
    /// S3 as `ScriptedStore` has it, which tells the truth.
    case scripted
    /// The one that `Tests/Support/s3` runs beside the tests.
    case s3

    static let credentials: S3Credentials? = {
        let environment = ProcessInfo.processInfo.environment
        return S3Credentials(
            accessKey: environment["AWS_ACCESS_KEY_ID"] ?? "", secretKey: environment["AWS_SECRET_ACCESS_KEY"] ?? "")
    }()

    /// A bucket's URL; nil where the tests run without such a store.
    static let url: String? = credentials.flatMap { _ in ProcessInfo.processInfo.environment["SEALKIT_TEST_S3"] }

    static let available: [TestedStore] = allCases.filter { $0 != .s3 || url != nil }
    static let ofS3: [TestedStore] = available.filter { $0 != .folder }

    var testDescription: String { rawValue }

    /// A place of its own in the bucket.
    static func ownPlace() throws -> String {
        let url = try #require(Self.url)
        return url.replacing("?", with: "/\(Hex.encode(randomBytes(8)))?", maxReplacements: 1)
    }

    /// Waits as tests do.
    static func client(_ url: String, _ change: (inout S3Client.Settings) -> Void = { _ in }) throws -> S3Client {
        try client(S3Place(url), change)
    }

    static func client(_ place: S3Place, _ change: (inout S3Client.Settings) -> Void = { _ in }) throws -> S3Client {
        var settings = S3Client.Settings()
        settings.pauses = Array(repeating: .milliseconds(2), count: 4)
        change(&settings)
        let anybody = try #require(S3Credentials(accessKey: "key", secretKey: "secret"))
        return try S3Client(place, settings: settings) { credentials ?? anybody }
    }

    private final class Opened: Sendable {
        let stores = Mutex<[S3BlobStore]>([])
    }

    /// A new store, and what opens the same one once more. All of them are closed at the end.
    func with(
        _ body: (_ store: any BlobStore, _ again: @Sendable () async throws -> any BlobStore) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        var scripted: ScriptedStore?
        if self == .scripted { scripted = try await ScriptedStore() }
        let url =
            switch self {
            case .folder: ""
            case .scripted: scripted?.url ?? ""
            case .s3: try Self.ownPlace()
            }
        let opened = Opened()
        let open: @Sendable () async throws -> any BlobStore = {
            if self == .folder { return try FolderBlobStore(folder: folder.path) }
            let store = try await S3BlobStore.open(try Self.client(url), owner: "1")
            opened.stores.withLock { $0.append(store) }
            return store
        }
        let store = try await open()
        try await whatever(becomesOf: { try await body(store, open) }) {
            for store in opened.stores.withLock({ $0 }) { await store.close() }
            await scripted?.stop()
        }
    }
}

/// Closes what `body` uses, also where it throws: a client that is not closed would end the process, and hide why.
func whatever(becomesOf body: () async throws -> Void, then close: () async -> Void) async throws {
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    await close()
    try outcome.get()
}

extension BlobID {
    static func random() -> BlobID {
        var generator = SystemRandomNumberGenerator()
        return BlobID(random: &generator)
    }
}

extension BlobStore {
    /// Stores bytes in one piece, handed over in chunks of odd lengths.
    func store(_ bytes: [UInt8], as id: BlobID) async throws -> Int64 {
        let upload = try await beginUpload(id)
        do {
            for start in stride(from: 0, to: bytes.count, by: 700_001) {
                try await upload.append(ByteBuffer(bytes: bytes[start..<min(start + 700_001, bytes.count)]))
            }
            return try await upload.finish()
        } catch {
            await upload.abort()
            throw error
        }
    }

    func bytes(of id: BlobID, _ range: Range<Int64>? = nil) async throws -> [UInt8] {
        var read: [UInt8] = []
        for try await buffer in try await self.read(id, range: range) { read += buffer.readableBytesView }
        return read
    }
}

/// Bytes that tell their place.
func placedBytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) } }

extension BlobStore {
    /// A part in one piece.
    func write(_ part: ByteBuffer, to id: BlobID, at offset: Int64) async throws {
        let upload = try await beginPart(id, at: offset)
        try await upload.append(part)
        _ = try await upload.finish()
    }
}
