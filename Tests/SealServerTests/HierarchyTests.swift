import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// Hierarchical shares, with real keys over HTTP.
@Suite(.timeLimit(.minutes(60))) struct HierarchyTests {
    /// Anna's zone has a list with an item, shared with Bert, and a note beside it.
    struct Shared: Sendable {
        let anna: Person
        let bert: Person
        let zone: TestZone
        var share: TestZone
        let root: SavedRecord
        let record: SavedRecord
        let item: SavedRecord
        let note: SavedRecord
        let server: RunningServer
    }

    /// - Parameter settles: the item is moved into the share.
    func withShare(
        _ permission: Permission = .readWrite, settles: Bool = true, hook: WriteHook? = nil,
        _ body: @Sendable (Shared) async throws -> Void
    ) async throws {
        try await RunningServer.with(hook: hook) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let zone = try await anna.makeZone()
            let saved = try await anna.save([Write("list"), Write("item", parent: "list"), Write("note")], in: zone)
            let list = try #require(try await anna.lookup(["list"], in: zone).results.first?.record)
            var (share, record, root) = try await anna.makeShare(of: try SavedRecord(list), in: zone)
            try await anna.share(&share, with: bert, permission)
            var item = saved[1]
            if settles {
                item = try await anna.save([Self.move(item, from: zone, to: share, parent: "list")])[0]
                // A child's save gives its parent a new change tag.
                root = try SavedRecord(try await anna.lookup(["list"], in: zone).results[0].record)
            }
            try await body(
                Shared(
                    anna: anna, bert: bert, zone: zone, share: share, root: root, record: record, item: item,
                    note: saved[2],
                    server: server))
        }
    }

    static func move(_ record: SavedRecord, from former: TestZone, to scope: TestZone, parent: String?) -> PlacedWrite {
        var write = Write(after: record)
        write.parent = parent
        return PlacedWrite(write, in: scope, from: former)
    }

    func names(_ response: Sealkit_V1_RecordChangesResponse) -> Set<String> {
        Set(response.records.filter { !$0.deleted }.map(\.recordName))
    }

    // MARK: Making

    @Test func `42 a new share is saved with its root or not at all`() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let list = try await anna.save([Write("list")], in: zone)[0]
            let (share, opening) = try anna.newShare("share", root: "list", in: zone)
            var record = Write("share", "title")
            record.type = Names.shareType
            let alone = [PlacedWrite(record, in: share)]
            let refused1 = try await refusal { _ = try await anna.save(alone, opening: [opening]) }
            #expect(refused1 == .invalidArguments)
            // Without the roster's opening it is no share either.
            #expect(try await anna.codes([record], in: zone) == [.invalidArguments])
            #expect(try await anna.shares(in: zone).isEmpty)

            let both = anna.sharing(list, as: "share", in: zone, share)
            let saved = try await anna.save(both, opening: [opening])
            #expect(saved.map(\.result.code) == [nil, nil])
            let shares = try await anna.shares(in: zone)
            #expect(shares.map(\.rootRecordName) == ["list"])
            #expect(shares.map(\.scope.shareRecordName) == ["share"])
            // 43: an already saved share is saved alone.
            var again = Write(after: saved[0])
            again.type = Names.shareType
            #expect(try await anna.save([PlacedWrite(again, in: share)]).map(\.result.code) == [nil])
        }
    }

    @Test func `44 the root names its share, and lies with it in the share's scope`() async throws {
        try await withShare { shared in
            let found = try await shared.anna.lookup(["list", "share", "note"], in: shared.zone)
            let root = try shared.anna.open(found.results[0].record, in: shared.share).statement
            #expect(root.share == "share")
            #expect(root.formerScope?.scopeID == shared.zone.roster.scopeID)
            #expect(
                try shared.anna.open(found.results[1].record, in: shared.share).statement.recordType == Names.shareType)
            #expect(try shared.anna.open(found.results[2].record, in: shared.zone).statement.share == nil)
            #expect(Set(found.scopes.map(\.shareRecordName)) == ["", "share"])
        }
    }

    @Test func `45 a record is in one share`() async throws {
        try await withShare { shared in
            let (anna, zone) = (shared.anna, shared.zone)
            let item = try await anna.save([Write("top"), Write("under", parent: "top")], in: zone)
            #expect(item.map(\.result.code) == [nil, nil])
            func code(sharing record: SavedRecord, parent: String?, from former: TestZone) async throws -> [ErrorCode?]
            {
                let (share, opening) = try anna.newShare("other", root: record.name, in: zone)
                var writes = anna.sharing(record, as: "other", in: former, share)
                writes[1].write.parent = parent
                return try await anna.save(writes, opening: [opening]).map(\.result.code)
            }
            // Itself, one below the root, and by the same name.
            #expect(try await code(sharing: shared.root, parent: nil, from: shared.share)[0] == .alreadyShared)
            #expect(try await code(sharing: shared.item, parent: "list", from: shared.share)[0] == .alreadyShared)
            let (again, opening) = try anna.newShare("share", root: "note", in: zone)
            let writes = anna.sharing(shared.note, as: "share", in: zone, again)
            let refused2 = try await refusal { _ = try await anna.save(writes, opening: [opening]) }
            #expect(refused2 == .alreadyShared)
            // One above a root.
            let under = try await anna.lookup(["under"], in: zone).results[0].record
            let (below, belowOpening) = try anna.newShare("below", root: "under", in: zone)
            var sharing = anna.sharing(try SavedRecord(under), as: "below", in: zone, below)
            sharing[1].write.parent = "top"
            #expect(try await anna.save(sharing, opening: [belowOpening]).map(\.result.code) == [nil, nil])
            let top = try await anna.lookup(["top"], in: zone).results[0].record
            #expect(try await code(sharing: try SavedRecord(top), parent: nil, from: zone)[0] == .alreadyShared)
            #expect(try await anna.shares(in: zone).map(\.scope.shareRecordName) == ["share", "below"])
        }
    }

    @Test func aZoneIsSharedAsAWholeOrHierarchiesInItAre() async throws {
        try await withShare { shared in
            let (anna, zone) = (shared.anna, shared.zone)
            var whole = Write(Names.zoneWideShare)
            whole.type = Names.shareType
            #expect(try await anna.codes([whole], in: zone) == [.alreadyShared])
            let settings = try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))])
            let refused3 = try await refusal {
                _ = try await anna.send(anna.appendRequest(settings, to: zone), to: zone)
            }
            #expect(refused3 == .alreadyShared)

            var other = try await anna.makeSharedZone("other")
            try await anna.share(&other, with: shared.bert)
            let list = try await anna.save([Write("list")], in: other)[0]
            let (share, opening) = try anna.newShare("share", root: "list", in: other)
            let writes = anna.sharing(list, as: "share", in: other, share)
            let refused4 = try await refusal { _ = try await anna.save(writes, opening: [opening]) }
            #expect(refused4 == .alreadyShared)
        }
    }

    @Test func theDefaultZoneTakesHierarchicalSharesAndNoOther() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone(Names.defaultZone)
            let list = try await anna.save([Write("list")], in: zone)[0]
            let (share, opening) = try anna.newShare("share", root: "list", in: zone)
            let saved = try await anna.save(anna.sharing(list, as: "share", in: zone, share), opening: [opening])
            #expect(saved.map(\.result.code) == [nil, nil])
            let other = try await Person.ready(server)
            let whole = try await other.makeZone(Names.defaultZone)
            let settings = try other.next(on: whole, [.settings(.init(linkID: Digest(randomBytes(32))))])
            let code = try await refusal {
                _ = try await other.send(other.appendRequest(settings, to: whole), to: whole)
            }
            #expect(code == .invalidArguments)
        }
    }

    // MARK: Reading

    @Test func `52 accepting makes root and share visible, and nothing beside the hierarchy`() async throws {
        try await withShare { shared in
            let (bert, share) = (shared.bert, shared.share)
            let feed = try await bert.changes(in: share)
            #expect(names(feed) == ["list", "share", "item"])
            #expect(feed.scopes.map(\.shareRecordName) == ["share"])
            for record in feed.records { _ = try bert.open(record, in: share) }
            let codes = try await bert.lookup(["list", "note", "nothing"], in: share).results.map(\.code)
            #expect(codes == [nil, .unknownItem, .unknownItem])
            let zones = try await bert.zoneChanges(shared: true).modifications
            #expect(zones.map(\.hasScope) == [false])
            #expect(zones[0].shares.map(\.shareRecordName) == ["share"])
            // Of the zone's own roster not even that there is one.
            var own = share
            own.roster = shared.zone.roster
            #expect(try await bert.fetchRoster(own).failure.errorCode == .zoneNotFound)
            let tail = try await bert.fetchRoster(share)
            #expect(tail.entries.count == share.roster.hashes.count)
            #expect(tail.grants.map(\.epoch) == [0])
            // What happens beside the share is not told.
            let token = try await bert.zoneChanges(shared: true).token
            #expect(try await shared.anna.codes([Write("secret")], in: shared.zone) == [nil])
            #expect(try await bert.zoneChanges(token, shared: true).modifications.isEmpty)
            #expect(try await bert.changes(in: share, since: feed.token).records.isEmpty)
        }
    }

    @Test func descendantsAreWithheldUntilTheOwnerHasMovedThem() async throws {
        try await withShare(settles: false) { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            let before = try await bert.changes(in: share)
            #expect(names(before) == ["list", "share"])
            #expect(try await anna.changes(in: shared.zone).unsettled)
            #expect(!before.unsettled, "what there is beside the hierarchy is told to nobody but the owner")
            let unsettled = try await anna.unsettled(in: shared.zone)
            #expect(unsettled.records.map(\.record.recordName) == ["item"])
            #expect(unsettled.records[0].parent.recordName == "list")
            #expect(Set(unsettled.scopes.map(\.shareRecordName)) == ["", "share"])
            let item = try SavedRecord(unsettled.records[0].record)
            let moved = try await anna.save([Self.move(item, from: shared.zone, to: share, parent: "list")])
            #expect(moved.map(\.result.code) == [nil])
            #expect(names(try await bert.changes(in: share, since: before.token)) == ["item"])
            #expect(try await !anna.unsettled(in: shared.zone).moreComing)
            #expect(try await !anna.changes(in: shared.zone).unsettled)
        }
    }

    @Test func aRecordThatLeavesIsToldByTheStatementThatTookItOut() async throws {
        try await withShare { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            let token = try await bert.changes(in: share).token
            let moved = try await anna.save([Self.move(shared.item, from: share, to: shared.zone, parent: nil)])
            #expect(moved.map(\.result.code) == [nil])
            let feed = try await bert.changes(in: share, since: token)
            #expect(feed.records.map(\.recordName) == ["item"])
            let gone = feed.records[0]
            #expect(gone.departed)
            #expect(gone.deleted)
            #expect(gone.fields.isEmpty)
            let verifier = StatementVerifier(roster: share.roster)
            let proof = try StatementProof(gone.proof)
            let departure = try verifier.verifyDeparture([UInt8](gone.statement), proof: proof, recordName: "item")
            #expect(departure.statement.statement.scopeID == shared.zone.roster.scopeID)
            #expect(throws: SealError.wrongContext) {
                try StatementVerifier(roster: shared.zone.roster).verifyDeparture(
                    [UInt8](gone.statement), proof: proof, recordName: "item")
            }
            #expect(try await bert.lookup(["item"], in: share).results[0].serverRecord.departed)
            // Later revisions are no business of Bert's; the way back is.
            let more = try await anna.save([PlacedWrite(Write(after: moved[0]), in: shared.zone)])
            #expect(try await bert.changes(in: share, since: feed.token).records.isEmpty)
            let back = try await anna.save([Self.move(more[0], from: shared.zone, to: share, parent: "list")])
            #expect(back.map(\.result.code) == [nil])
            #expect(names(try await bert.changes(in: share, since: feed.token)) == ["item"])
        }
    }

    @Test func aListOfSharesGoesOnAfterOneThatWasLeftMeanwhile() async throws {
        try await withShare { shared in
            let (anna, bert) = (shared.anna, shared.bert)
            var (second, _, _) = try await anna.makeShare(of: shared.note, "second", in: shared.zone)
            try await anna.share(&second, with: bert)
            let joined = second
            #expect(try await bert.shares(in: joined).map(\.scope.shareRecordName) == ["share", "second"])
            let leave = bert.author.plain(.leave, on: shared.share.roster, time: 5)
            _ = try await bert.send(bert.appendRequest(leave, to: shared.share), to: shared.share)
            #expect(try await bert.shares(in: joined, after: "share").map(\.scope.shareRecordName) == ["second"])
            // Of a share that it was never in somebody is told as little as of one that there is not.
            let top = try await anna.save([Write("top")], in: shared.zone)[0]
            _ = try await anna.makeShare(of: top, "third", in: shared.zone)
            for name in ["third", "nothing"] {
                let refused = try await refusal { _ = try await bert.shares(in: joined, after: name) }
                #expect(refused == .unknownItem, "\(name)")
            }
        }
    }

    /// What one request brings together is judged together: neither the shared record itself nor one with a shared
    /// record below it comes below a root that begins to be shared.
    @Test func whatIsSharedDoesNotComeBelowARootThatItsRequestShares() async throws {
        try await withShare { shared in
            let (anna, zone) = (shared.anna, shared.zone)
            func code(_ moved: (TestZone) -> PlacedWrite) async throws -> ErrorCode? {
                let (other, opening) = try anna.newShare("other", root: "note", in: zone)
                let writes = anna.sharing(shared.note, as: "other", in: zone, other) + [moved(other)]
                return try await anna.save(writes, opening: [opening])[0].result.code
            }
            var below = Write(after: shared.root)
            below.parent = "note"
            let root = below
            #expect(try await code { _ in PlacedWrite(root, in: shared.share, share: "share") } == .alreadyShared)
            let folder = try await anna.save([Write("folder")], in: zone)[0]
            var put = Write(after: shared.root)
            put.parent = "folder"
            #expect(
                try await anna.save([PlacedWrite(put, in: shared.share, share: "share")]).map(\.result.code) == [nil])
            let tagged = try SavedRecord(try await anna.lookup(["folder"], in: zone).results[0].record)
            #expect(folder.name == tagged.name)
            #expect(try await code { Self.move(tagged, from: zone, to: $0, parent: "note") } == .alreadyShared)
            #expect(try await anna.shares(in: zone).map(\.scope.shareRecordName) == ["share"])
        }
    }

    @Test func whoJoinsAnotherShareOfTheZoneBeginsAnew() async throws {
        try await withShare { shared in
            let (anna, bert) = (shared.anna, shared.bert)
            let token = try await bert.changes(in: shared.share).token
            var (second, _, _) = try await anna.makeShare(of: shared.note, "second", in: shared.zone)
            #expect(try await bert.changes(in: shared.share, since: token).records.isEmpty)
            try await anna.share(&second, with: bert)
            let stale = try await refusal { _ = try await bert.changes(in: second, since: token) }
            #expect(stale == .changeTokenExpired)
            let all = try await bert.changes(in: second)
            #expect(names(all) == ["list", "share", "item", "note", "second"])
            #expect(Set(all.scopes.map(\.shareRecordName)) == ["share", "second"])
            // Page by page, as the owner has them.
            for (after, expected) in [("", ["share", "second"]), ("share", ["second"]), ("second", [])] {
                #expect(try await bert.shares(in: second, after: after).map(\.scope.shareRecordName) == expected)
            }
            // And who leaves one of them, keeps the other.
            let leave = bert.author.plain(.leave, on: second.roster, time: 5)
            _ = try await bert.send(bert.appendRequest(leave, to: second), to: second)
            let left = try await refusal { _ = try await bert.changes(in: second, since: all.token) }
            #expect(left == .changeTokenExpired)
            #expect(names(try await bert.changes(in: shared.share)) == ["list", "share", "item"])
            #expect(try await bert.fetchRoster(second).entries.count == second.roster.hashes.count + 1)
        }
    }

    /// However many shares one takes part in, the pages come in one order, with what left them.
    @Test(arguments: [1, 2, 3]) func aParticipantOfSharesReadsPageByPage(count: Int) async throws {
        try await withShare { shared in
            let (anna, bert, zone) = (shared.anna, shared.bert, shared.zone)
            for number in 1..<count {
                let root = try await anna.save([Write("root\(number)")], in: zone)[0]
                var (share, _, _) = try await anna.makeShare(of: root, "share\(number)", in: zone)
                try await anna.share(&share, with: bert)
                _ = try await anna.save([PlacedWrite(Write("child\(number)", nil, parent: "root\(number)"), in: share)])
            }
            // One that is hidden, one that left.
            let other = try await anna.save([Write("hidden")], in: zone)[0]
            _ = try await anna.makeShare(of: other, "other", in: zone)
            let moved = try await anna.save([Self.move(shared.item, from: shared.share, to: zone, parent: nil)])
            #expect(moved[0].result.code == nil)
            let whole = try await bert.changes(in: shared.share)
            let others = (1..<count).flatMap { ["root\($0)", "share\($0)", "child\($0)"] }
            let expected = ["list", "share"] + others + ["item"]
            #expect(Set(whole.records.map(\.recordName)) == Set(expected))
            #expect(whole.records.count == expected.count)
            #expect(whole.records.last?.departed == true)
            #expect(!whole.moreComing)
            for limit in 1...4 {
                var (token, read) = (Data(), [String]())
                for _ in 0...expected.count {
                    let page = try await bert.changes(in: shared.share, since: token, limit: UInt32(limit))
                    read += page.records.map(\.recordName)
                    token = page.token
                    #expect(page.records.count <= limit)
                    if !page.moreComing { break }
                }
                #expect(read == whole.records.map(\.recordName), "\(limit)")
                #expect(try await bert.changes(in: shared.share, since: token).records.isEmpty)
            }
            // The owner has all of it in one order too.
            let all = try await anna.changes(in: zone)
            var (token, read) = (Data(), [String]())
            repeat {
                let page = try await anna.changes(in: zone, since: token, limit: 2)
                (token, read) = (page.token, read + page.records.map(\.recordName))
                if !page.moreComing { break }
            } while read.count < 100
            #expect(read == all.records.map(\.recordName))
            #expect(Set(read).isSuperset(of: ["hidden", "other", "note", "item"]))
        }
    }
}
