import Foundation
import NIOHTTP1
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

extension HierarchyTests {
    // MARK: Participants writing

    @Test func `49 what a participant makes has a parent in the tree`() async throws {
        try await withShare { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            #expect(try await bert.codes([Write("alone")], in: share) == [.permissionFailure])
            #expect(try await bert.codes([Write("lost", parent: "nothing")], in: share) == [.referenceViolation])
            // A parent outside looks like none.
            #expect(try await bert.codes([Write("beside", parent: "note")], in: share) == [.permissionFailure])
            #expect(
                try await bert.codes([Write("new", parent: "list"), Write("below", parent: "new")], in: share) == [
                    nil, nil,
                ])
            // For the zone's own scope Bert cannot sign at all, whatever it knows of it.
            let own = try bert.request([Write("own")], in: shared.zone).request
            #expect(try await bert.send(own, to: share).map(\.code) == [.permissionFailure])
            // A name that is taken where Bert does not see.
            #expect(try await bert.codes([Write("note", parent: "list")], in: share) == [.permissionFailure])
            let found = try await anna.lookup(["new", "below", "note"], in: shared.zone).results
            #expect(found.map(\.code) == [nil, nil, nil])
            _ = try anna.open(found[0].record, in: share)
        }
    }

    @Test func `50 without the permission to write nothing in the tree is written`() async throws {
        try await withShare(.readOnly) { shared in
            let (bert, share) = (shared.bert, shared.share)
            let refused1 = try await refusal { _ = try await bert.codes([Write("new", parent: "item")], in: share) }
            #expect(refused1 == .permissionFailure)
            var edit = Write(after: shared.item)
            edit.parent = "list"
            let refused = edit
            let refused2 = try await refusal { _ = try await bert.codes([refused], in: share) }
            #expect(refused2 == .permissionFailure)
            #expect(try await bert.lookup(["item"], in: share).results.map(\.code) == [nil])
        }
    }

    @Test func whatParticipantsWriteIsTheOwnersToReadAndToChange() async throws {
        try await withShare { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            let saved = try await bert.save([Write("new", parent: "list")], in: share)
            var edit = Write(after: saved[0])
            edit.parent = "list"
            let changed = try await anna.save([PlacedWrite(edit, in: share)])
            #expect(changed.map(\.result.code) == [nil])
            var gone = Write(after: changed[0], kind: .delete)
            gone.parent = "list"
            #expect(try await bert.codes([gone], in: share) == [nil])
        }
    }

    @Test func onlyTheOwnerMovesRecords() async throws {
        try await withShare { shared in
            let (anna, bert) = (shared.anna, shared.bert)
            var (second, _, _) = try await anna.makeShare(of: shared.note, "second", in: shared.zone)
            try await anna.share(&second, with: bert)
            // Signed by Bert for another share.
            let stolen = try bert.request([Self.move(shared.item, from: shared.share, to: second, parent: "note")])
                .request
            #expect(try await bert.send(stolen, to: second).map(\.code) == [.permissionFailure])
            // Without saying where it comes from.
            var silent = Write(after: shared.item)
            silent.parent = "note"
            #expect(try await bert.codes([silent], in: second) == [.serverRecordChanged])
            let moved = try await anna.save([Self.move(shared.item, from: shared.share, to: second, parent: "note")])
            #expect(moved.map(\.result.code) == [nil])
        }
    }

    @Test func theOwnerSignsForTheScopeOfTheParent() async throws {
        try await withShare { shared in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            #expect(try await anna.codes([Write("new", parent: "list")], in: zone) == [.rosterChanged])
            #expect(
                try await anna.save([PlacedWrite(Write("new", parent: "list"), in: share)]).map(\.result.code) == [nil])
            // Re-parenting takes the record along; what is below it follows.
            let below = try await anna.save([PlacedWrite(Write("below", parent: "new"), in: share)])
            let new = try SavedRecord(try await anna.lookup(["new"], in: zone).results[0].record)
            var stays = Write(after: new)
            stays.parent = "note"
            #expect(try await anna.save([PlacedWrite(stays, in: share)]).map(\.result.code) == [.rosterChanged])
            let moved = try await anna.save([Self.move(new, from: share, to: zone, parent: "note")])
            #expect(moved.map(\.result.code) == [nil])
            #expect(try await anna.unsettled(in: zone).records.map(\.record.recordName) == ["below"])
            let settled = try await anna.save([Self.move(below[0], from: share, to: zone, parent: "new")])
            #expect(settled.map(\.result.code) == [nil])
            #expect(try await !anna.unsettled(in: zone).moreComing)
        }
    }

    /// A record goes into another scope and back while its children follow: those that have followed come back too.
    @Test func childrenFollowAParentThatComesBackMidway() async throws {
        try await withShare { shared in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            func current(_ name: String) async throws -> SavedRecord {
                try SavedRecord(try await anna.lookup([name], in: zone).results[0].record)
            }
            func unsettled() async throws -> [String] {
                try await anna.unsettled(in: zone).records.map(\.record.recordName)
            }
            try await anna.save([PlacedWrite(Write("new", parent: "list"), in: share)])
            try await anna.save(["a", "b"].map { PlacedWrite(Write($0, parent: "new"), in: share) })
            try await anna.save([Self.move(current("new"), from: share, to: zone, parent: "note")])
            #expect(try await unsettled() == ["a", "b"])
            try await anna.save([Self.move(current("a"), from: share, to: zone, parent: "new")])
            #expect(try await unsettled() == ["b"])
            try await anna.save([Self.move(current("new"), from: zone, to: share, parent: "list")])
            #expect(try await unsettled() == ["a"])
            try await anna.save([Self.move(current("a"), from: zone, to: share, parent: "new")])
            #expect(try await unsettled().isEmpty)
        }
    }

    @Test func assetsOfOthersScopesAreNotFound() async throws {
        try await withShare { shared in
            let (bert, share) = (shared.bert, shared.share)
            let (files, bytes) = (AssetTests(), AssetTests.blob(randomBytes(96)))
            // Uploading needs the permission in some share.
            let mine = try await files.upload(bert, bytes, in: share)
            var write = try files.write("photo", blob: mine)
            write.parent = "list"
            #expect(try await bert.codes([write], in: share) == [nil])
            #expect(try await files.send(shared.anna, .GET, mine, in: shared.zone).body == bytes)
            // Of what is beside the hierarchy nothing is given out, to whoever knows its name.
            let own = try await files.upload(shared.anna, bytes, in: shared.zone)
            let hidden = try files.write("private", blob: own)
            #expect(try await shared.anna.codes([hidden], in: shared.zone) == [nil])
            #expect(try await files.send(bert, .GET, own, in: share).status == 404)
            #expect(try await files.send(bert, .GET, mine, in: share).body == bytes)
        }
    }

    // MARK: Ending

    @Test func `46 the owner deletes the share and the records stay`() async throws {
        try await withShare { shared in
            let (anna, bert, zone, share) = (shared.anna, shared.bert, shared.zone, shared.share)
            var gone = Write(after: shared.record, kind: .delete)
            gone.type = Names.shareType
            let deletion = PlacedWrite(gone, in: share)
            let cleared = Self.move(shared.root, from: share, to: zone, parent: nil)
            // Neither without the entry that ends it, nor with the root left behind.
            #expect(
                try await anna.save([deletion, cleared]).map(\.result.code) == [.invalidArguments, .invalidArguments])
            let closing = anna.closing(share)
            let refused3 = try await refusal { _ = try await anna.save([deletion], closing: [closing]) }
            #expect(refused3 == .invalidArguments)
            let done = try await anna.save([deletion, cleared], closing: [closing])
            #expect(done.map(\.result.code) == [nil, nil])

            let ended = try await bert.zoneChanges(shared: true)
            #expect(ended.deletions.map(\.reason) == [4])
            let refused4 = try await refusal { _ = try await bert.changes(in: share) }
            #expect(refused4 == .zoneNotFound)
            #expect(try await bert.fetchRoster(share).entries.count == share.roster.hashes.count + 1)
            // What was below the root follows it.
            let left = try await anna.unsettled(in: zone)
            #expect(left.records.map(\.record.recordName) == ["item"])
            #expect(
                try await anna.save([Self.move(shared.item, from: share, to: zone, parent: "list")]).map(\.result.code)
                    == [nil])
            #expect(try await !anna.unsettled(in: zone).moreComing)
            // And sharing again works, under the same name too.
            var closed = share.roster
            try closed.append(anna.author.plain(.close, on: share.roster, time: 2).entry)
            let (again, opening) = try anna.newShare("share", root: "list", in: zone, following: closed)
            var record = Write(after: done[0], "title")
            record.type = Names.shareType
            record.tag = ""
            record.creator = anna.user
            let root = try SavedRecord(try await anna.lookup(["list"], in: zone).results[0].record)
            let writes = [
                PlacedWrite(record, in: again, from: share),
                PlacedWrite(Write(after: root), in: again, from: zone, share: "share"),
            ]
            #expect(try await anna.save(writes, opening: [opening]).map(\.result.code) == [nil, nil])
        }
    }

    /// Who kept its URL, or asked for access, has to do with the share that ended, and not with the next of its name.
    @Test func aShareThatEndsTakesItsURLAndRequestsAlong() async throws {
        try await withShare { shared in
            let (anna, zone, share, server) = (shared.anna, shared.zone, shared.share, shared.server)
            let carl = try await Person.ready(server)
            let tables = ["link", "sealed_link", "access_request", "share_access"]
            let routing = [UInt8](try #require(try await anna.links(share).links.first?.routingID))
            try await anna.updateLinks(share, .with { $0.sealedLinks = [anna.sealedLink()] })
            try await anna.updateAccess(share, allows: true)
            try await carl.ask(routing)
            #expect(try await server.rows(in: tables).count == tables.count)
            #expect(try await carl.shareOwner(routing).zone.zoneName == zone.name)

            var gone = Write(after: shared.record, kind: .delete)
            gone.type = Names.shareType
            let done = try await anna.save(
                [PlacedWrite(gone, in: share), Self.move(shared.root, from: share, to: zone, parent: nil)],
                closing: [anna.closing(share)])
            #expect(done.map(\.result.code) == [nil, nil])
            #expect(try await server.rows(in: tables).isEmpty)
            #expect(
                try await anna.save([Self.move(shared.item, from: share, to: zone, parent: "list")]).map(\.result.code)
                    == [nil])

            // Shared again under the same name, and open to requests.
            var closed = share.roster
            try closed.append(anna.author.plain(.close, on: share.roster, time: 2).entry)
            var (again, opening) = try anna.newShare("share", root: "list", in: zone, following: closed)
            var record = Write(after: done[0], "title")
            (record.type, record.tag, record.creator) = (Names.shareType, "", anna.user)
            let root = try SavedRecord(try await anna.lookup(["list"], in: zone).results[0].record)
            let writes = [
                PlacedWrite(record, in: again, from: share),
                PlacedWrite(Write(after: root), in: again, from: zone, share: "share"),
            ]
            #expect(try await anna.save(writes, opening: [opening]).map(\.result.code) == [nil, nil])
            try await anna.append(
                try anna.next(on: again, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &again)
            try await anna.updateAccess(again, allows: true)
            #expect(try await anna.access(again).requesters.isEmpty)
            #expect(try await anna.links(again).links.isEmpty)
            try await expectRefusal(.unknownItem) { try await carl.shareOwner(routing) }
            try await expectRefusal(.unknownItem) { try await carl.ask(routing) }
        }
    }

    /// Between a request's checks and its transaction another device appends to the share's roster, or opens a share.
    @Test func whatIsEndedOrOpenedIsAsItWasJudged() async throws {
        let hook = WriteHook()
        try await withShare(hook: hook) { shared in
            let (anna, zone, share, server) = (shared.anna, shared.zone, shared.share, shared.server)
            var gone = Write(after: shared.record, kind: .delete)
            gone.type = Names.shareType
            let (ending, _) = try anna.request(
                [PlacedWrite(gone, in: share), Self.move(shared.root, from: share, to: zone, parent: nil)],
                closing: [anna.closing(share)])
            let (scope, opening) = try anna.newShare("other", root: "note", in: zone)
            let (beginning, _) = try anna.request(
                anna.sharing(shared.note, as: "other", in: zone, scope), opening: [opening])
            let append = try RosterAppend(
                anna.appendRequest(
                    try anna.next(on: share, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: share),
                container: TestClient.container,
                hasher: server.services.addresses)
            let (rosters, quotas, now) = (server.services.rosters, server.services.quotas, server.clock.now)
            let appends: WriteHook.Work = { connection in
                let found = "SELECT \(ZoneRow.columns) FROM zone z WHERE z.name = 'notes'"
                let zone = try #require(try connection.first(found, [], ZoneRow.init))
                let row = try #require(try Shares.find("share", in: zone, connection))
                let owner: [SQLValue] = [.integer(zone.owner)]
                let account = try connection.first("SELECT account FROM identity WHERE id = $1", owner) {
                    try $0.int64("account")
                }
                let session = Session(
                    accountID: try #require(account), tokenHash: [], device: nil, deviceRevision: 0, expires: .max,
                    generation: 0)
                let caller = Caller(id: zone.owner, userID: anna.user, session: session)
                _ = try append.run(on: row, by: caller, rosters: rosters, quotas: quotas, now: now, in: connection)
            }
            let opens: WriteHook.Work = { try $0.execute("UPDATE zone SET shares = shares + 1") }
            let before = try await server.rows(in: ["share", "record"])
            for (request, work) in [(ending, appends), (beginning, opens)] {
                hook.arm(work)
                try await expectRefusal(.rosterChanged) { try await anna.send(request, to: zone) }
                #expect(!hook.isArmed)
            }
            #expect(try await server.rows(in: ["share", "record"]) == before)
        }
    }

    @Test func aShareIsNotOpenedAgainBeforeItsRecordsAreMoved() async throws {
        try await withShare { shared in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            var gone = Write(after: shared.record, kind: .delete)
            gone.type = Names.shareType
            let done = try await anna.save(
                [PlacedWrite(gone, in: share), Self.move(shared.root, from: share, to: zone, parent: nil)],
                closing: [anna.closing(share)])
            var closed = share.roster
            try closed.append(anna.author.plain(.close, on: share.roster, time: 2).entry)
            let (again, opening) = try anna.newShare("share", root: "list", in: zone, following: closed)
            let writes = anna.sharing(done[1], as: "share", in: zone, again)
            let refused5 = try await refusal { _ = try await anna.save(writes, opening: [opening]) }
            #expect(refused5 == .zoneBusy)
        }
    }

    @Test func `48 the owner deletes the root with its children and the share in one send`() async throws {
        try await withShare { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            // A participant deletes neither root nor share.
            let codes = try await bert.codes([Write(after: shared.root, kind: .delete)], in: share)
            #expect(codes == [.permissionFailure])
            var gone = Write(after: shared.record, kind: .delete)
            gone.type = Names.shareType
            #expect(try await bert.codes([gone], in: share) == [.permissionFailure])
            let root = PlacedWrite(Write(after: shared.root, kind: .delete), in: share)
            #expect(try await anna.save([root]).map(\.result.code) == [.invalidArguments])
            var item = Write(after: shared.item, kind: .delete)
            item.parent = "list"
            let all = [PlacedWrite(gone, in: share), root, PlacedWrite(item, in: share)]
            #expect(try await anna.save(all, closing: [anna.closing(share)]).map(\.result.code) == [nil, nil, nil])
            #expect(try await bert.zoneChanges(shared: true).deletions.count == 1)
            #expect(try await anna.shares(in: shared.zone).isEmpty)
        }
    }

    @Test func deletingTheZoneEndsItsShares() async throws {
        try await withShare { shared in
            let (anna, bert, zone, share) = (shared.anna, shared.bert, shared.zone, shared.share)
            #expect(try await anna.deleteZone(zone).failure.errorCode == .rosterChanged)
            let forged = try await anna.deleteZone(zone, closing: [share, share])
            #expect(forged.failure.errorCode == .invalidArguments)
            guard case .deleted = try await anna.deleteZone(zone, closing: [share]).outcome else {
                Issue.record("not deleted")
                return
            }
            let ended = try await bert.zoneChanges(shared: true)
            #expect(ended.deletions.map(\.reason) == [4])
            // Both rosters show their end.
            #expect(try await bert.fetchRoster(share).entries.count == share.roster.hashes.count + 1)
            #expect(try await anna.fetchRoster(share).entries.count == share.roster.hashes.count + 1)
        }
    }

    @Test func othersNeitherShareNorEndWhatIsNotTheirs() async throws {
        try await withShare { shared in
            let (bert, share) = (shared.bert, shared.share)
            let (_, opening) = try bert.newShare("mine", root: "item", in: share)
            let writes = [PlacedWrite(Write("new", parent: "list"), in: share)]
            let refused6 = try await refusal { _ = try await bert.save(writes, opening: [opening]) }
            #expect(refused6 == .permissionFailure)
            let closing = bert.closing(share)
            let refused7 = try await refusal { _ = try await bert.save(writes, closing: [closing]) }
            #expect(refused7 == .permissionFailure)
            // A root that is not of the tree names no share.
            let named = try bert.request([PlacedWrite(Write("new", parent: "list"), in: share, share: "share")]).request
            #expect(try await bert.send(named, to: share).map(\.code) == [.invalidArguments])
        }
    }

}
