import Foundation
import NIOCore
import SealEnvelope
import SealLab
import Synchronization

@testable import SealKit

/// When a process is killed: at one of its steps, after which nothing it does has any effect.
final class Fate: Sendable {
    private struct State {
        var steps: [String] = []
        var isDead = false
        var downloaded = 0
    }

    private let end: @Sendable (Int, String) -> Bool
    private let lastByte: Int?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - end: the step that it does not survive, counted from 1; nil for none.
    ///   - lastByte: how many bytes it downloads before it is killed; nil for no end.
    init(end: Int? = nil, lastByte: Int? = nil) {
        self.end = { number, _ in number == end }
        self.lastByte = lastByte
    }

    /// - Parameter isLast: whether it does not survive a step.
    init(dyingAt isLast: @escaping @Sendable (String) -> Bool) {
        end = { _, step in isLast(step) }
        lastByte = nil
    }

    var isDead: Bool { state.withLock(\.isDead) }
    /// What it has done, or has died of.
    var steps: [String] { state.withLock(\.steps) }
    var downloaded: Int { state.withLock(\.downloaded) }

    /// Like a cancelled task it asks no further.
    private static let death = SealKitError(.operationCancelled, "the test killed the process")

    func step(_ name: String) throws(SealKitError) {
        let isDead = state.withLock { state in
            guard !state.isDead else { return true }
            state.steps.append(name)
            state.isDead = end(state.steps.count, name)
            return state.isDead
        }
        if isDead { throw Self.death }
    }

    func download(_ count: Int) throws(SealKitError) {
        let isDead = state.withLock { state in
            guard !state.isDead else { return true }
            state.downloaded += count
            if let lastByte, state.downloaded > lastByte { state.isDead = true }
            return state.isDead
        }
        if isDead { throw Self.death }
    }
}

/// A process's way to the server, each request and each answer of which is a step.
private struct MortalTransport: Transport {
    let next: any Transport
    let fate: Fate
    var origin: String { next.origin }

    private func through<T>(_ path: String, _ send: () async throws(SealKitError) -> T) async throws(SealKitError) -> T
    {
        try fate.step("request \(path)")
        let answer = try await send()
        try fate.step("answer \(path)")
        return answer
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        try await through(path) { () async throws(SealKitError) in
            try await next.post(path, body: body, token: token)
        }
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try await through(path) { () async throws(SealKitError) in try await next.get(path, token: token) }
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        try await through(path) { () async throws(SealKitError) in
            try await next.upload(path, length: length, parts: parts, token: token)
        }
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try fate.step("request \(path)")
        try await next.download(path, range: range, token: token) { part in
            try fate.download(part.readableBytes)
            try await consume(part)
        }
    }
}

/// A device whose process is killed and started again, with what lies on its disk.
final class MortalDevice: Sendable {
    let person: Person
    let folder: TemporaryFolder
    private let transport: any Transport

    /// - Parameter transport: nil for the server itself.
    init(_ person: Person, transport: (any Transport)? = nil) throws {
        self.person = person
        folder = try TemporaryFolder()
        self.transport = try transport ?? HTTPTransport(server: person.server.origin)
    }

    var journalFile: URL { folder.url.appendingPathComponent("journal") }

    /// Starts a process, has it do something, and ends it.
    /// - Returns: nil where it was killed.
    func run<T: Sendable>(_ fate: Fate = Fate(), _ body: (Container) async throws -> T) async throws -> T? {
        let trust = try TrustStore(file: folder.url.appendingPathComponent("trust"))
        let journal = try OperationJournal(file: journalFile) { moment throws(SealKitError) in
            try fate.step("journal \(moment)")
        }
        defer {
            // A process lets go of both when it ends.
            try? journal.close()
            try? trust.close()
        }
        let account = try Account(
            seeds: person.account.seeds,
            client: Client(transport: MortalTransport(next: transport, fate: fate), pacing: FakePacing().pacing))
        let container = try Container(
            person.container.containerIdentifier, account: account, trust: trust, journal: journal)
        do { return try await body(container) } catch {
            guard fate.isDead else { throw error }
            return nil
        }
    }
}
