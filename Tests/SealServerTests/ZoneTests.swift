import Foundation
import SealKit
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealEnvelope
@testable import SealKit
@testable import SealServer
@testable import SealService

@Suite(.timeLimit(.minutes(60))) struct ZoneTests {
    @Test func aZoneIsMadeFoundAndListed() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let found = try await anna.zones([("notes", ""), ("notes", anna.name), ("other", "")])
            #expect(found[0].zone.zoneID.ownerName == anna.name)
            #expect(found[0].zone.capabilities == 15)
            #expect(found[0].zone.scope.head == Data(zone.roster.head.bytes))
            #expect(!found[0].zone.shared)
            #expect(found[1].zone == found[0].zone)
            #expect(found[2].failure.errorCode == .zoneNotFound)
            _ = try await anna.makeZone(Names.defaultZone)
            #expect(try await anna.zones().map(\.zoneID.zoneName) == ["_defaultZone", "notes"])
            #expect(try await anna.zones(shared: true).isEmpty)
            // Of strangers nothing shows.
            let bert = try await Person.ready(server)
            #expect(try await bert.zones([("notes", anna.name)], shared: true)[0].failure.errorCode == .zoneNotFound)
            #expect(try await bert.zones([("notes", anna.name)])[0].failure.errorCode == .zoneNotFound)
        }
    }

    @Test func pathsAreChecked() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            for (path, code) in [
                ("/database/1/a%20b/development/private/zones/lookup", ErrorCode.badContainer),
                ("/database/1/a/development/public/zones/lookup", .badDatabase),
                ("/database/1/a/development/other/zones/lookup", .badDatabase),
                ("/database/1/a/staging/private/zones/lookup", .invalidArguments),
                ("/database/1/other/development/private/zones/lookup", .notAuthenticated),
            ] {
                let refused = try await refusal {
                    try await anna.client.call(
                        path, Sealkit_V1_LookupZonesRequest(), as: Sealkit_V1_LookupZonesResponse.self)
                }
                #expect(refused == code, "\(path)")
            }
            let refused = try await refusal {
                try await anna.client.call(
                    anna.path("zones/lookup"), Sealkit_V1_LookupZonesRequest(), as: Sealkit_V1_LookupZonesResponse.self,
                    token: "wrong")
            }
            #expect(refused == .sessionExpired)
            try await expectRefusal(.badDatabase) { try await anna.modifyZones(shared: true) }
        }
    }

    @Test func badOpeningsAreRefused() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            let good = try anna.opening("notes")
            func code(_ name: String, _ draft: RosterAuthor<XWingHPKE>.Draft) async throws -> ErrorCode? {
                try await anna.modifyZones(saving: [(name, draft)])[0].failure.errorCode
            }
            #expect(try await code("_private", good) == .invalidArguments)
            #expect(try await code("", good) == .invalidArguments)
            #expect(try await code("other", good) == .invalidArguments)
            #expect(try await code("notes", try bert.opening("notes")) == .invalidArguments)
            let forged = RosterAuthor<XWingHPKE>.Draft(
                entry: SignedRosterEntry(bytes: good.entry.bytes, signature: [UInt8](repeating: 0, count: 64)),
                grants: good.grants, epochKey: nil)
            #expect(try await code("notes", forged) == .integrityFailure)
            let wrongGrant = RosterAuthor<XWingHPKE>.Draft(
                entry: good.entry, grants: try anna.opening("notes").grants, epochKey: nil)
            #expect(try await code("notes", wrongGrant) == .integrityFailure)
            #expect(try await code("notes", .init(entry: good.entry, grants: [], epochKey: nil)) == .integrityFailure)
            #expect(try await anna.zones().isEmpty)
            #expect(
                try await refusal { try await anna.modifyZones(saving: [("notes", good)], operation: [1]) }
                    == .invalidArguments)
            let many = Array(repeating: ("notes", good), count: 401)
            #expect(try await refusal { try await anna.modifyZones(saving: many) } == .limitExceeded)
        }
    }

    @Test func s34_savingAnExistingZoneKeepsItsRecords() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([Write("a")], in: zone)
            let again = try await anna.modifyZones(saving: [("notes", try anna.opening("notes"))])
            #expect(again[0].zone.scope.head == Data(zone.roster.head.bytes))
            #expect(try await anna.lookup(["a"], in: zone).results[0].code == nil)
        }
    }

    @Test func s35_deletingAZoneRemovesItsRecordsAndShowsInTheFeed() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeZone()
            _ = try await anna.save([Write("a")], in: zone)
            let before = try await anna.zoneChanges()
            #expect(before.modifications.map(\.zoneID.zoneName) == ["notes"])
            #expect(!before.moreComing)
            let token = try await anna.changes(in: zone).token
            let closing = anna.author.plain(.close, on: zone.roster, time: 2)
            #expect(try await anna.deleteZone(zone).deleted)
            #expect(try await refusal { try await anna.lookup(["a"], in: zone) } == .zoneNotFound)
            let after = try await anna.zoneChanges(before.token)
            #expect(after.deletions.map(\.reason) == [1])
            #expect(after.modifications.isEmpty)
            #expect(try await anna.zoneChanges(after.token).deletions.isEmpty)

            // Made again on the kept roster: the next incarnation, empty; old tokens are not for it.
            try zone.roster.append(closing.entry)
            let tail = try await anna.fetchRoster(zone)
            #expect(tail.entries.count == 2)
            #expect(tail.grants.isEmpty)
            #expect(
                try await anna.modifyZones(saving: [("notes", try anna.opening("notes"))])[0].failure.errorCode
                    == .rosterChanged)
            let again = try anna.opening("notes", following: zone.roster)
            #expect(try await anna.modifyZones(saving: [("notes", again)])[0].zone.scope.sequence == 2)
            try zone.roster.append(again.entry)
            zone.key = try #require(again.epochKey)
            #expect(zone.roster.incarnations.zone == 2)
            #expect(try await anna.changes(in: zone).records.isEmpty)
            #expect(try await refusal { try await anna.changes(in: zone, since: token) } == .changeTokenExpired)
            #expect(try await anna.codes([Write("a")], in: zone) == [nil])
            #expect(try await anna.zoneChanges(after.token).modifications.count == 1)
        }
    }

    @Test func s37_deletingAnUnknownZoneAndOtherBadClosings() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let close = anna.author.plain(.close, on: zone.roster, time: 2)
            #expect(try await anna.modifyZones(deleting: [("none", close.entry)])[0].failure.errorCode == .zoneNotFound)
            let rotation = try anna.next(on: zone, rotating: true)
            #expect(
                try await anna.modifyZones(deleting: [("notes", rotation.entry)])[0].failure.errorCode
                    == .invalidArguments)
            var stale = zone
            _ = try await anna.append(rotation, to: &stale)
            #expect(
                try await anna.modifyZones(deleting: [("notes", close.entry)])[0].failure.errorCode == .rosterChanged)
            let bert = try await Person.ready(server)
            #expect(
                try await bert.modifyZones(deleting: [("notes", close.entry)])[0].failure.errorCode == .zoneNotFound)
            #expect(try await anna.deleteZone(stale).deleted)
            #expect(try await anna.deleteZone(stale).failure.errorCode == .zoneNotFound)
        }
    }

    @Test func anOperationIsDoneOnce() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let close = anna.author.plain(.close, on: zone.roster, time: 2)
            let id = randomBytes(16)
            let first = try await anna.modifyZones(deleting: [("notes", close.entry)], operation: id)
            #expect(try await anna.modifyZones(deleting: [("notes", close.entry)], operation: id) == first)
            let (request, _) = try anna.request([Write("a")], in: zone)
            var other = request
            other.operationID = Data(id)
            let sent = other
            #expect(try await refusal { try await anna.send(sent, to: zone) } == .invalidArguments)
            // Operations belong to accounts.
            let bert = try await Person.ready(server)
            #expect(
                try await bert.modifyZones(deleting: [("notes", close.entry)], operation: id)[0].failure.errorCode
                    == .zoneNotFound)
        }
    }

    @Test func databaseTokensAreBound() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            for name in ["a", "b", "c"] { _ = try await anna.makeZone(name) }
            let first = try await anna.zoneChanges(limit: 2)
            #expect(first.modifications.count == 2)
            #expect(first.moreComing)
            let second = try await anna.zoneChanges(first.token)
            #expect(second.modifications.map(\.zoneID.zoneName) == ["c"])
            #expect(!second.moreComing)
            #expect(try await refusal { try await bert.zoneChanges(first.token) } == .changeTokenExpired)
            #expect(try await refusal { try await anna.zoneChanges(first.token, shared: true) } == .changeTokenExpired)
            #expect(try await refusal { try await anna.zoneChanges(Data([1, 9, 9])) } == .invalidArguments)
            #expect(try await refusal { try await anna.zoneChanges(Data([7, 7])) } == .changeTokenExpired)
            // A saved record moves its zone to the end of the feed.
            let zone = try await anna.makeZone("d")
            let token = try await anna.zoneChanges().token
            _ = try await anna.save([Write("x")], in: zone)
            #expect(try await anna.zoneChanges(token).modifications.map(\.zoneID.zoneName) == ["d"])
        }
    }
}
