import Dispatch
import Foundation
import Glibc
import HTTPTypes
import Hummingbird
import Logging
import NIOEmbedded
import SealCoding
import SealPrimitives
import SealWire
import SwiftProtobuf
import Synchronization

@testable import SealEnvelope
@testable import SealServer
@testable import SealService
@testable import SealStatements
@testable import SealStorage

/// A server without a network: its routes, a database in a folder of its own, and one user with a zone.
///
/// What a request writes is taken back before the next one, so that every run of an input does the same.
final class RequestWorld: Sendable {
    static let shared = certain("a server") { try RequestWorld() }

    let routes: [Route]
    let token: String
    let owner = World.people[0]
    let zone: Roster
    let zoneKey: EpochKey
    private let respond: @Sendable (Request, SealRequestContext) async throws -> Response

    /// A fixed time, a second after 2026 began.
    private static let now: Int64 = 1_767_225_601_000_000

    private init() throws {
        let folder = "/tmp/sealkit-fuzz-\(getpid())"
        let configuration = ServerConfiguration(dataFolder: folder + "/data", limits: Self.noRates)
        for path in [folder, configuration.dataFolder, configuration.secretsFolder] {
            try PrivateFiles.createFolder(at: path)
        }
        let base = try SQLiteDatabase(path: configuration.dataFolder + "/sealkit.sqlite", migrations: Migration.all)
        let undoing = UndoingDatabase(base: base)
        let services = Services(
            database: undoing, damage: base.damage, peers: .none(),
            blobs: try FolderBlobStore(folder: configuration.dataFolder + "/blobs"),
            messengers: [:],
            secrets: try ServerSecrets(folder: configuration.secretsFolder), configuration: configuration,
            webBundle: nil, writeTimes: WriteTimes(logger: QuietLog.logger), metrics: .off, logger: QuietLog.logger,
            replacing: ServiceReplacements(clock: { Self.now }, limits: Self.limits))
        // An event stream needs a connection, and does not end.
        routes = Endpoints.all.filter { $0.answer != .events }.sorted { "\($0)" < "\($1)" }
        let responder = try Server.responder(services)
        respond = { try await responder.respond(to: $0, context: $1) }

        let owner = World.people[0]
        token = try Self.wait {
            try await base.write(at: .everything) { connection in
                // As a server does when it starts: what it writes is numbered by its run.
                _ = try ShardedNumber.shard(of: connection)
                try ServerRuns.begin(now: Self.now, random: 1, in: connection)
                let account = try Accounts.create(
                    loginKey: owner.signingKey.verificationKey, name: "fuzz", now: Self.now, in: connection)
                try Identities.register(owner.chain, account: account.id, container: World.container, in: connection)
                // Nothing that is sent asks for its signature.
                let device = try DeviceStatement(
                    id: Data(repeating: 5, count: 16), name: "", added: Self.now, signature: Data())
                let entered = try Devices.enter(
                    device, account: account.id, loginKey: owner.signingKey.verificationKey, now: Self.now,
                    in: connection)
                return try Sessions.issue(
                    account: account.id, device: entered.row, now: Self.now,
                    randomToken: [UInt8](repeating: 7, count: 32), in: connection
                ).token
            }
        }
        let scope = Scope(
            container: World.container, environment: .development, owner: owner.userID, zoneName: World.scope.zoneName)
        var random = FixedRandom()
        let opening = try owner.author.open(
            scope, following: nil, encryptionScope: .perRecord, identity: owner.chain, time: 1, random: &random)
        zone = try Roster(opening: opening.entry, scope: scope)
        guard let key = opening.epochKey else { throw SealError.missingKey }
        zoneKey = key
        // What is set up stays.
        undoing.isUndoing.withLock { $0 = false }
        let made = RequestSeeds.opening(opening)
        let request = RequestShape(0).request(
            to: Endpoints.zones.modify.route, try made.serializedBytes(), token: token)
        let context = Self.context()
        let respond = respond
        let status = try Self.wait { try await respond(request, context).status }
        require(status == .ok, "the zone is not made: \(status)")
        undoing.isUndoing.withLock { $0 = true }
    }

    func answer(_ request: Request) async throws -> Response {
        try await respond(request, Self.context())
    }

    /// One for all: a request asks it nothing but its address.
    private static let channel = EmbeddedChannel()

    private static func context() -> SealRequestContext {
        SealRequestContext(source: .init(channel: channel, logger: QuietLog.logger))
    }

    private static var noRates: ServerLimits {
        var limits = ServerLimits()
        (limits.requestRate, limits.writeRate, limits.readRate) = (0, 0, 0)
        (limits.sharingRate, limits.anonymousRate) = (0, 0)
        return limits
    }

    private static var limits: AbuseLimits {
        var limits = AbuseLimits(noRates)
        let many = RateLimiter.Rule(count: .max, window: 1)
        (limits.accountCreation, limits.recovery, limits.lookup) = (many, many, many)
        (limits.verificationTry, limits.epochOpening) = (many, many)
        return limits
    }

    /// Waits on the main thread, which is nobody's in the cooperative pool.
    private static func wait<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
        let outcome = Outcome<T>()
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                let value = try await body()
                outcome.result.withLock { $0 = .success(value) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    private final class Outcome<T: Sendable>: Sendable {
        let result = Mutex<Result<T, any Error>?>(nil)
    }
}
