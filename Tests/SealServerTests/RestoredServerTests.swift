import Foundation
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

/// A server that was started on an old copy of its database: what it has lost it is given back, and nobody misses what
/// comes after.
@Suite(.timeLimit(.minutes(60))) struct RestoredServerTests {
    /// Runs three servers on one folder: `before` up to the backup, `lost` after it, and `after` on the backup.
    func restored<Kept: Sendable, Lost: Sendable>(
        before: @escaping @Sendable (RunningServer) async throws -> Kept,
        lost: @escaping @Sendable (RunningServer, Kept) async throws -> Lost,
        after: @escaping @Sendable (RunningServer, Kept, Lost) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let (kept, gone) = (Box<Kept>(), Box<Lost>())
        try await RunningServer.with(folder: folder) { kept.value = try await before($0) }
        try await folder.backUpServer()
        try await RunningServer.with(folder: folder) { gone.value = try await lost($0, try kept.held()) }
        try await folder.restoreServer()
        try await RunningServer.with(folder: folder) { try await after($0, try kept.held(), try gone.held()) }
    }

    final class Box<Value: Sendable>: @unchecked Sendable {
        // Unchecked: written by one task, read after it.
        var value: Value?
        func held() throws -> Value { try #require(value) }
    }

    struct Shared: Sendable {
        let anna: Person
        let bert: Person
        var zone: TestZone
    }

    static func shared(_ server: RunningServer) async throws -> Shared {
        let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
        var zone = try await anna.makeSharedZone()
        try await anna.share(&zone, with: bert)
        return Shared(anna: anna, bert: bert, zone: zone)
    }

    // MARK: Feeds

    @Test func tokensOfALostFutureExpireAlsoOnceTheFeedHasGrownPastThem() async throws {
        struct Tokens: Sendable { var zone = Data(), half = Data(), database = Data(), query = Data() }
        let query = try QueryTests.query("TRUEPREDICATE", type: "Note")
        try await restored { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([Write("a"), Write("b"), Write("c")], in: zone)
            return (
                anna, zone, try await anna.changes(in: zone).token, try await anna.zoneChanges().token,
                try await anna.query(query, in: zone, limit: 1).cursor
            )
        } lost: { server, kept in
            let anna = kept.0.at(server)
            let zone = kept.1
            // Tokens of before the restart hold.
            let next = try await anna.changes(in: zone, since: kept.2)
            #expect(next.records.isEmpty)
            #expect(try await anna.zoneChanges(kept.3).modifications.isEmpty)
            #expect(try await anna.query(query, in: zone, cursor: kept.4).matches.count == 2)
            _ = try await anna.save([Write("x"), Write("y")], in: zone)
            _ = try await anna.makeZone("lost")
            return Tokens(
                zone: try await anna.changes(in: zone).token, half: try await anna.changes(in: zone, limit: 2).token,
                database: try await anna.zoneChanges().token,
                query: try await anna.query(query, in: zone, limit: 1).cursor)
        } after: { server, kept, tokens in
            let anna = kept.0.at(server)
            let zone = kept.1
            for round in 0..<2 {
                try await expectRefusal(.changeTokenExpired) { try await anna.changes(in: zone, since: tokens.zone) }
                // Half of the feed was read as it is no more.
                try await expectRefusal(.changeTokenExpired) { try await anna.changes(in: zone, since: tokens.half) }
                try await expectRefusal(.changeTokenExpired) { try await anna.zoneChanges(tokens.database) }
                try await expectRefusal(.changeTokenExpired) {
                    try await anna.query(query, in: zone, cursor: tokens.query)
                }
                guard round == 0 else { break }
                // Now the feeds stand where the tokens do, and beyond: without a run in them nobody would notice.
                _ = try await anna.save((1...9).map { Write("new\($0)") }, in: zone)
                for name in ["one", "two", "three"] { _ = try await anna.makeZone(name) }
            }
            // What was given out before the backup is good, and misses nothing.
            #expect(try await anna.changes(in: zone, since: kept.2).records.count == 9)
            #expect(try await anna.zoneChanges(kept.3).modifications.count == 4)
            #expect(try await anna.query(query, in: zone, cursor: kept.4).matches.count == 11)
            #expect(try await anna.changes(in: zone).records.count == 12)
        }
    }

    /// A device that kept such a place would miss what has its number by now, and not know of it.
    @Test func notificationsOfALostFutureAreAResetAlsoOnceTheFeedHasGrownPastThem() async throws {
        try await restored { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            let events = try await desk.listen()
            _ = try await phone.save([Write("a")], in: zone)
            let told = try await events.next()
            return (phone, desk, zone, try #require(told.id))
        } lost: { server, kept in
            let (phone, desk) = (kept.0.at(server), kept.1.at(server))
            let events = try await desk.listen(after: kept.3)
            // A place of before the restart holds.
            #expect(events.first.name == "ready")
            var last: String?
            for name in ["x", "y", "z"] {
                _ = try await phone.save([Write(name)], in: kept.2)
                last = try await events.next().id
            }
            return try #require(last)
        } after: { server, kept, lost in
            let (phone, desk) = (kept.0.at(server), kept.1.at(server))
            #expect(try await desk.listen(after: lost).first.name == "reset")
            for name in ["b", "c", "d", "e", "f"] { _ = try await phone.save([Write(name)], in: kept.2) }
            // Now there is another notification of that number, and more behind it.
            let ahead = try await desk.listen(after: lost)
            #expect(ahead.first.name == "reset")
            #expect(ahead.first.number == 6)
            let events = try await desk.listen(after: kept.3)
            #expect(events.first.name == "ready")
            #expect(try await events.next().number == 6)
        }
    }

    /// What moves a user's database feed, and a zone's where it takes a place in that.
    enum Move: CaseIterable {
        case save, accessRequest, newZone

        /// - Parameter asker: somebody who has not asked yet.
        func make(by anna: Person, in zone: TestZone, asker: Person, name: String) async throws {
            switch self {
            case .save: _ = try await anna.save([Write(name)], in: zone)
            case .accessRequest:
                try await asker.ask([UInt8](try #require(try await anna.links(zone).links.first).routingID))
            case .newZone: _ = try await anna.makeZone(name)
            }
        }
    }

    /// The backup was made while the server ran, so that it knows the run of the tokens that came after it.
    @Test(arguments: Move.allCases) func tokensOfALostEndOfARunExpire(_ move: Move) async throws {
        struct Known: Sendable {
            var anna, carl, dora: Person, zone: TestZone, good = Data(), lost = Data(), lostZone = Data()
        }
        let folder = TemporaryFolder()
        let box = Box<Known>()
        try await RunningServer.with(folder: folder) { server in
            let shared = try await Self.shared(server)
            let anna = shared.anna
            try await anna.updateAccess(shared.zone, allows: true)
            var known = Known(
                anna: anna, carl: try await Person.ready(server), dora: try await Person.ready(server),
                zone: shared.zone)
            known.good = try await anna.zoneChanges().token
            // Nothing is written meanwhile.
            try await folder.backUpServer()
            try await move.make(by: anna, in: known.zone, asker: known.carl, name: "lost")
            known.lost = try await anna.zoneChanges().token
            known.lostZone = try await anna.changes(in: known.zone).token
            box.value = known
        }
        try await folder.restoreServer()
        try await RunningServer.with(folder: folder) { server in
            let known = try box.held()
            let anna = known.anna.at(server)
            try await expectRefusal(.changeTokenExpired) { try await anna.zoneChanges(known.lost) }
            // The feed comes to where the lost token stood.
            try await move.make(by: anna, in: known.zone, asker: known.dora.at(server), name: "new")
            try await expectRefusal(.changeTokenExpired) { try await anna.zoneChanges(known.lost) }
            #expect(try await anna.zoneChanges(known.good).modifications.count == 1)
            guard move == .save else { return }
            try await expectRefusal(.changeTokenExpired) {
                try await anna.changes(in: known.zone, since: known.lostZone)
            }
        }
    }

    @Test func tokensOfManyRunsHold() async throws {
        let folder = TemporaryFolder()
        let box = Box<(Person, TestZone)>()
        let tokens = Box<[Data]>()
        try await RunningServer.with(folder: folder) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            box.value = (anna, zone)
            _ = try await anna.save([Write("0")], in: zone)
            tokens.value = [try await anna.changes(in: zone).token]
        }
        for run in 1...3 {
            try await RunningServer.with(folder: folder) { server in
                let (first, zone) = try box.held()
                let anna = first.at(server)
                // In the second run nothing is written.
                if run != 2 { _ = try await anna.save([Write("\(run)")], in: zone) }
                let held = try tokens.held()
                for (index, token) in held.enumerated() {
                    let names = try await anna.changes(in: zone, since: token).records.map(\.recordName)
                    let expected = (index + 1..<run + 1).filter { $0 != 2 }.map(String.init)
                    #expect(names == expected, "run \(run), token \(index)")
                }
                tokens.value = held + [try await anna.changes(in: zone).token]
            }
        }
    }

    @Test func runsAreOrderedAndNeverTheSame() {
        let first = ServerRuns.number(after: 0, now: 1_000_000, random: .max)
        // The clock stands still, or goes back.
        for now in [Int64(1_000_000), 0, -5] {
            let one = ServerRuns.number(after: first, now: now, random: 1)
            let other = ServerRuns.number(after: first, now: now, random: 2)
            #expect(one > first)
            #expect(other > first)
            #expect(one != other)
        }
        let later = ServerRuns.number(after: first, now: 9_000_000, random: 0)
        #expect(later > ServerRuns.number(after: first, now: 8_000_000, random: .max))
    }

    // MARK: Rosters

    @Test func aMemberGivesTheTailBack() async throws {
        try await restored {
            try await Self.shared($0)
        } lost: { server, kept in
            let (anna, bert) = (kept.anna.at(server), kept.bert.at(server))
            let carl = try await Person.ready(server)
            var zone = kept.zone
            try await anna.share(&zone, with: carl)
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            let tail = try await bert.fetchRoster(zone)
            #expect(tail.headSequence == zone.roster.sequence)
            #expect(tail.head == Data(zone.roster.head.bytes))
            #expect(!tail.ungranted)
            return (zone, tail, carl)
        } after: { server, kept, lost in
            let (anna, bert) = (kept.anna.at(server), kept.bert.at(server))
            let (zone, tail, _) = lost
            let known = kept.zone.roster
            // The server says where its log ends.
            let seen = try await bert.fetchRoster(zone, after: zone.roster.sequence)
            #expect(seen.headSequence == known.sequence)
            #expect(seen.head == Data(known.head.bytes))
            #expect(seen.entries.isEmpty)
            let missing = Array(tail.entries.dropFirst(Int(known.nextSequence)))
            #expect(missing.count == 3)
            let request = Sealkit_V1_RestoreRosterRequest.with {
                $0.zone = zone.id(for: bert)
                $0.entries = missing
                $0.grants = tail.grants
            }
            // What is altered, out of order, incomplete or a stranger's is refused, and leaves nothing.
            let stranger = try await Person.ready(server)
            var forged = request
            forged.entries[0].signature = Data(repeating: 1, count: 64)
            var gap = request
            gap.entries.remove(at: 1)
            var late = request
            late.entries.removeFirst()
            var none = request
            none.entries = []
            var bad = request
            // Of the epoch that the entries open: to what a member seals to itself when it joins no entry commits.
            bad.grants[bad.grants.count - 1].sealed = Data([1, 2, 3])
            var many = request
            many.entries = (0...RosterRestore.most).map { _ in missing[0] }
            var own = request
            own.zone.ownerName = ""
            var nowhere = request
            nowhere.zone.zoneName = "elsewhere"
            var share = request
            share.shareRecordName = "nothing"
            for (wrong, code) in [
                (forged, ErrorCode.integrityFailure), (gap, .invalidArguments), (late, .rosterChanged),
                (none, .invalidArguments),
                (bad, .integrityFailure), (many, .limitExceeded), (own, .rosterChanged), (nowhere, .zoneNotFound),
                (share, .unknownItem),
            ] {
                let refused = try await refusal { try await bert.restore(wrong) }
                #expect(refused == code)
            }
            let stranged = try await refusal { try await stranger.restore(request) }
            #expect(stranged == .zoneNotFound)
            #expect(try await anna.fetchRoster(zone).headSequence == known.sequence)

            let answer = try await bert.restore(request)
            #expect(answer.scope.sequence == zone.roster.sequence)
            #expect(answer.scope.head == Data(zone.roster.head.bytes))
            // Said again, it changes nothing.
            let token = try await anna.changes(in: zone).token
            _ = try await bert.restore(request)
            #expect(try await anna.changes(in: zone).token == token)
            // Who came with the tail sees the zone, and its account that was lost is made again by its own device: not
            // here.
            #expect(try await bert.fetchRoster(zone).grants.map(\.epoch) == [0, 1])
            // To the owner the server says that others' grants are missing; not to a member.
            #expect(try await anna.fetchRoster(zone).ungranted)
            #expect(try await !bert.fetchRoster(zone).ungranted)
            var open = zone
            try await anna.append(try anna.next(on: zone, rotating: true), to: &open)
            #expect(try await !anna.fetchRoster(open).ungranted)
            _ = try await bert.save([Write("after")], in: open)
        }
    }

    @Test func aSeatThatWaitedForAnAddressIsGivenBackByThoseWhoInvite() async throws {
        try await restored {
            try await Self.shared($0)
        } lost: { server, kept in
            let anna = kept.anna.at(server)
            let carl = try await Person.ready(server)
            var zone = kept.zone
            let invitation = try anna.invitation(to: nil, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            try await carl.accept(invitation, in: &zone)
            return (zone, try await anna.fetchRoster(zone).entries, carl)
        } after: { server, kept, lost in
            let (anna, bert) = (kept.anna.at(server), kept.bert.at(server))
            let request = { (person: Person) in
                Sealkit_V1_RestoreRosterRequest.with {
                    $0.zone = lost.0.id(for: person)
                    $0.entries = lost.1
                }
            }
            let refused = try await refusal { try await bert.restore(request(bert)) }
            #expect(refused == .permissionFailure)
            #expect(try await anna.restore(request(anna)).scope.sequence == lost.0.roster.sequence)
            // Nothing is open any more that somebody could take.
            #expect(try await anna.fetchRoster(lost.0).headSequence == lost.0.roster.sequence)
        }
    }

    /// A life of a zone that was large is emptied beside the requests, whoever begins the next one: what comes before
    /// it is kept.
    @Test func aLargeZoneThatWasDeletedAndBegunAgainIsGivenBackInSteps() async throws {
        try await restored { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            try await WriterCostTests.fill(zone, 5_000, server)
            return (anna, zone)
        } lost: { server, kept in
            let anna = kept.0.at(server)
            var zone = kept.1
            guard case .deleted = try await anna.deleteZone(zone).outcome else { throw TestFailure("not deleted") }
            try zone.roster.append(SignedRosterEntry(try #require(try await anna.fetchRoster(zone).entries.last)))
            try await waitUntil("it is empty") { try await server.rows(in: ["zone_remains"]).isEmpty }
            let begun = try await anna.modifyZones(saving: [
                (zone.name, try anna.opening(zone.name, following: zone.roster))
            ])[0]
            #expect(begun.failure.code.isEmpty)
            return try await anna.fetchRoster(zone).entries
        } after: { server, kept, entries in
            let anna = kept.0.at(server)
            #expect(entries.count == 3)
            let request = Sealkit_V1_RestoreRosterRequest.with {
                $0.zone = kept.1.id(for: anna)
                $0.entries = entries
            }
            #expect(try await anna.restore(request).scope.sequence == 1)
            #expect(try await anna.zones().isEmpty)
            try await waitUntil("it is empty") { try await server.rows(in: ["zone_remains"]).isEmpty }
            #expect(try await server.rows(in: ["record", "record_index"]).isEmpty)
            let restore = try RosterRestore(request, container: TestClient.container)
            let (services, now) = (server.services, server.clock.now)
            let refused = try await services.database.write(at: .everything) { connection -> ErrorCode? in
                let row = try #require(
                    try connection.first("SELECT \(ZoneRow.columns) FROM zone z WHERE z.closed = 1", [], ZoneRow.init))
                try connection.execute("INSERT INTO zone_remains (owner, zone) VALUES ($1, $2)", row.key)
                defer { _ = try? connection.execute("DELETE FROM zone_remains", []) }
                let path = DatabasePath(container: TestClient.container, environment: .development, database: .private)
                let counts = RosterCounts(
                    limits: services.rates.limits, counting: CountedCall(services.rates).run(in: connection),
                    quotas: services.quotas)
                do {
                    _ = try restore.run(
                        by: try anna.caller(connection), path, services.rosters, counts, now: now, in: connection)
                    return nil
                } catch let error as ServerError {
                    return error.code
                }
            }
            #expect(refused == .zoneBusy)
            #expect(try await anna.restore(request).scope.sequence == 2)
            #expect(try await anna.zones().map(\.zoneID.zoneName) == [kept.1.name])
        }
    }

    @Test func aZoneThatIsUnknownComesBackWithItsRosterByItsOwnerOnly() async throws {
        try await restored {
            try await Self.shared($0)
        } lost: { server, kept in
            let (anna, bert) = (kept.anna.at(server), kept.bert.at(server))
            var zone = try await anna.makeSharedZone("later")
            try await anna.share(&zone, with: bert)
            let gone = try await anna.deleteZone(kept.zone)
            guard case .deleted = gone.outcome else { throw TestFailure("not deleted") }
            return (
                zone, try await anna.fetchRoster(zone).entries, try await bert.fetchRoster(zone).grants,
                try await anna.fetchRoster(kept.zone).entries
            )
        } after: { server, kept, lost in
            let (anna, bert) = (kept.anna.at(server), kept.bert.at(server))
            let (zone, entries, grants, closed) = lost
            let request = { (person: Person, zone: TestZone, entries: [Sealkit_V1_SignedEntry]) in
                Sealkit_V1_RestoreRosterRequest.with {
                    $0.zone = zone.id(for: person)
                    $0.entries = entries
                    $0.grants = person.user == zone.owner ? [] : grants
                }
            }
            let refused = try await refusal { try await bert.restore(request(bert, zone, entries)) }
            #expect(refused == .zoneNotFound)
            _ = try await anna.restore(request(anna, zone, entries))
            // Its member sees it again, brings its own grant, and writes.
            #expect(try await bert.zones(shared: true).map(\.zoneID.zoneName).sorted() == ["later", "notes"])
            _ = try await bert.restore(request(bert, zone, entries))
            #expect(try await bert.fetchRoster(zone).grants.count == grants.count)
            _ = try await bert.save([Write("again")], in: zone)
            // A deletion that was lost is one again, for everybody.
            _ = try await anna.save([Write("old")], in: kept.zone)
            _ = try await bert.restore(request(bert, kept.zone, closed))
            #expect(try await anna.zones().map(\.zoneID.zoneName) == ["later"])
            #expect(try await bert.zones(shared: true).map(\.zoneID.zoneName) == ["later"])
            let after = try await refusal { try await anna.changes(in: kept.zone) }
            #expect(after == .zoneNotFound)
        }
    }
}

extension Person {
    @discardableResult
    func restore(_ request: Sealkit_V1_RestoreRosterRequest) async throws -> Sealkit_V1_RestoreRosterResponse {
        let isOwn = request.zone.ownerName.isEmpty || request.zone.ownerName == name
        return try await client.call(
            path("rosters/restore", shared: !isOwn), request, as: Sealkit_V1_RestoreRosterResponse.self)
    }
}
