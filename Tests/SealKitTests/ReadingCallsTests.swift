import Foundation
import SealClient
import SealLab
import SealWire
import Synchronization
import Testing

@testable import SealKit

/// Whatever there is to do in a zone: who reads writes nothing there.
@Suite(.timeLimit(.minutes(60))) struct ReadingCallsTests {
    /// A zone of Ann's that is shared as a whole, in which a new key is due, an invitation is over and nobody vouches
    /// for the title that its URL shows; and one with a share whose item has not followed its root yet.
    private struct World {
        let ann: Person
        let whole: RecordZone.ID
        let lists: RecordZone.ID
        let list: Record
        let share: Share

        init() async throws {
            let (bob, dave) = (try await Person(), try await Person())
            ann = try await Person()
            let (zone, _, share) = try await ann.share(with: [(bob, .readWrite), (dave, .readWrite)])
            whole = zone
            let joined = try await dave.join(share.url)
            try await bob.join(share.url)
            try await ann.promote(dave, in: zone)
            try await dave.edit(joined) { $0.title = "Vegetables" }
            try await ann.edit(zone) { share in
                var once = Share.Participant.oneTimeURLParticipant()
                once.expirationDate = Date(timeIntervalSinceNow: 86_400)
                share.addParticipant(once)
            }
            try await dave.shared.leaveShare(of: joined)

            lists = try await ann.makeZone()
            let list = ann.note(in: lists, "list", name: "list")
            var item = ann.note(in: lists, "item", name: "item")
            item.setParent(list)
            _ = try await ann.own.modifyRecords(saving: [list, item])
            let refusal = LossyTransport.Loss.refusal(SealKitError(.permissionFailure, "the test's server says so"))
            let cut = try ann.through(
                LossyTransport(
                    try HTTPTransport(server: ann.server.origin), losing: "shares/unsettled",
                    Array(repeating: refusal, count: 100)))
            let root = try await cut.own.record(for: list.recordID)
            (self.share, self.list) = try await cut.own.save(Share(rootRecord: root), rootRecord: root)
        }

        /// Where the server's rosters end, as a device reads them that knows nothing.
        func heads() async throws -> [UInt64] {
            let core = try ann.onFreshDevice().container.core
            let lists = try core.scope(of: lists)
            var heads: [UInt64] = []
            for scope in [try core.scope(of: whole), lists, lists.ofShare(share.recordID.recordName)] {
                heads.append(try await core.keeper(of: scope).refresh().roster.sequence)
            }
            return heads
        }
    }

    private static let later: Int64 = 2 * 86_400_000_000

    @Test func nothingIsWrittenByReading() async throws {
        let world = try await World()
        let temporary = try TemporaryFolder()
        let before = try await world.heads()
        let transport = NotingTransport(try HTTPTransport(server: world.ann.server.origin))
        let device = try world.ann.onFreshDevice(transport: transport)
        let database = device.own
        // A login is by the server's clock.
        _ = try await database.allRecordZones()
        // An engine holds its delegate weakly.
        let app = SyncApp(disk: SyncDisk())
        defer { withExtendedLifetime(app) {} }
        let calls: [(name: String, call: @Sendable () async throws -> Void)] = [
            ("all zones", { _ = try await database.allRecordZones() }),
            ("a zone", { _ = try await database.recordZone(for: world.whole) }),
            ("the database's changes", { _ = try await database.databaseChanges() }),
            ("a zone's changes", { _ = try await database.recordZoneChanges(inZoneWith: world.whole) }),
            (
                "many zones' changes",
                { _ = try await database.recordZoneChanges(inZonesWith: [world.whole: .init(), world.lists: .init()]) }
            ),
            ("a record", { _ = try await database.record(for: world.list.recordID) }),
            ("what is restored", { _ = try await database.restoredRecords(for: [world.list.recordID]) }),
            ("a share", { _ = try await database.share(for: world.whole) }),
            ("a hierarchical share", { _ = try await database.share(withID: world.share.recordID) }),
            ("a root's share", { _ = try await database.share(forRoot: world.list.recordID) }),
            ("keys", { _ = try await database.keyStatus(of: world.whole) }),
            ("subscriptions", { _ = try await database.allSubscriptions() }),
            ("the own record", { _ = try await database.record(for: device.container.userRecordID()) }),
            (
                "the own public record",
                { _ = try await device.container.publicDatabase.record(for: device.container.userRecordID()) }
            ),
            ("an audit", { _ = try await device.container.audit() }),
            (
                "a raw export",
                { _ = try await database.exportRaw(world.lists, to: temporary.url.appending(path: "raw")) }
            ),
            ("an archive", { _ = try await device.container.exportData(to: temporary.url.appending(path: "data")) }),
            (
                "a sync engine's fetch",
                {
                    var configuration = SyncEngine.Configuration(
                        container: device.container, stateSerialization: nil, delegate: app)
                    configuration.automaticallySync = false
                    try await SyncEngine(configuration).fetchChanges()
                }
            ),
        ]
        for (name, call) in calls {
            try await WallClock.$offset.withValue(Self.later) { try await call() }
            #expect(transport.taken().isEmpty, "\(name)")
        }
        #expect(try await world.heads() == before)
        #expect(transport.reads > calls.count)

        // Asked for, all of it is done, and told.
        let (whole, lists) = try await WallClock.$offset.withValue(Self.later) {
            (try await database.maintain(world.whole), try await database.maintain(world.lists))
        }
        #expect(whole.outcomes.map(\.work) == [.revokingExpired, .renewingPreviews])
        #expect(lists.outcomes.map(\.work) == [.movingRecords])
        #expect(whole.isComplete)
        #expect(lists.isComplete)
        #expect(!transport.taken().isEmpty)
        let again = try await WallClock.$offset.withValue(Self.later) { try await database.maintain(world.whole) }
        #expect(again.outcomes.isEmpty)
    }

    /// What reading leaves undone, the next write does: after somebody has left it is under a new key.
    @Test func theNextWriteUsesANewKeyAfterSomebodyHasLeft() async throws {
        let world = try await World()
        let device = try world.ann.onFreshDevice()
        _ = try await device.own.recordZoneChanges(inZoneWith: world.whole)
        let status = try await device.own.keyStatus(of: world.whole)
        #expect(status.isRotationDue)
        try await device.own.save(device.note(in: world.whole, "under a new key"))
        let after = try await device.own.keyStatus(of: world.whole)
        #expect(after.newestEpoch == status.newestEpoch + 1)
        #expect(!after.isRotationDue)
    }

    @Test func whatCannotBeDoneIsTold() async throws {
        let world = try await World()
        let refusal = LossyTransport.Loss.refusal(SealKitError(.permissionFailure, "the test's server says so"))
        let device = try world.ann.onFreshDevice(
            transport: LossyTransport(
                try HTTPTransport(server: world.ann.server.origin), losing: "shares/unsettled",
                Array(repeating: refusal, count: 100)))
        let maintenance = try await device.own.maintain(world.lists)
        #expect(maintenance.outcomes.map(\.work) == [.movingRecords])
        #expect(maintenance.outcomes.map(\.error?.code) == [.permissionFailure])
        #expect(!maintenance.isComplete)
        let missing = await failure { _ = try await device.own.maintain(RecordZone.ID(zoneName: "none")) }
        #expect(missing == .zoneNotFound)
        let open = await failure { _ = try await device.container.publicDatabase.maintain(.default) }
        #expect(open == .badDatabase)
    }
}

/// Notes what would change something on the server, beside logging in.
private final class NotingTransport: PassingTransport {
    let next: any Transport
    private let state = Mutex<(writes: [String], reads: Int)>(([], 0))

    init(_ next: HTTPTransport) { self.next = next }

    var reads: Int { state.withLock(\.reads) }

    /// What was sent since this was asked last.
    func taken() -> [String] {
        state.withLock { state in
            defer { state.writes = [] }
            return state.writes
        }
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        let isRead = Endpoints.all.contains { $0.again == .read && $0.names(path) }
        state.withLock { state in
            if isRead { state.reads += 1 } else if !path.hasPrefix("/1/accounts/") { state.writes.append(path) }
        }
        return try await next.post(path, body: body, token: token)
    }
}

extension Route {
    fileprivate func names(_ path: String) -> Bool {
        let (own, other) = (template.split(separator: "/"), path.split(separator: "/"))
        return method == .post && own.count == other.count
            && zip(own, other).allSatisfy { $0.first == "{" || $0 == $1 }
    }
}
