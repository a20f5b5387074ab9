import Foundation
import SealClient
import SealEnvelope
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// A server that shows less than there is, or the same for ever.
@Suite(.timeLimit(.minutes(60))) struct OmissionAttacks {
    let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    func folder(_ name: String) -> URL { temporary.url.appendingPathComponent(name) }

    private func names(_ changes: Database.RecordZoneChanges) -> Set<String> {
        Set(changes.modifications.compactMap { $0.result.error == nil ? $0.recordID.recordName : nil })
    }

    /// A zone with records by these names, which the device knows.
    private func zone(of ann: Person, _ names: [String]) async throws -> RecordZone.ID {
        let zone = try await ann.makeZone()
        _ = try await ann.own.modifyRecords(saving: names.map { ann.note(in: zone, "body", name: $0) })
        return zone
    }

    // MARK: What is left out

    @Test(
        "A feed or a list from the beginning leaves out records or zones that a device knows: they are there all the same, verifiably gone, or refused; exports and audits go by it."
    )
    func attack75_whatIsLeftOut() async throws {
        let ann = try await Person()
        let zone = try await zone(of: ann, ["a", "b", "c", "d", "e"])
        let all: Set = ["a", "b", "c", "d", "e"]
        let (device, network) = try ann.behindAttacker()
        let honest = try await device.own.recordZoneChanges(inZoneWith: zone)
        #expect(names(honest) == all, "nothing is asked where nothing is missing")
        #expect(network.sent(to: "records/lookup").isEmpty, "nothing is asked where nothing is missing")

        // The feed leaves it out: it is asked for, and comes. Of one page, and of several.
        network.inject(.leftOutRecord(Record.ID(recordName: "b", zoneID: zone)))
        for limit in [nil, 2] {
            #expect(try await names(read(device.own, zone, limit: limit)) == all)
            let kept = try await device.container.violations()
            #expect(kept.map(\.recordName) == ["b"] && kept[0].reason.contains("left record b out"))
            try await ann.container.forget(kept)
        }
        #expect(network.sent(to: "records/lookup").count == 2)
        // An app that was started again in the middle of it.
        let first = try await device.own.recordZoneChanges(inZoneWith: zone, resultsLimit: 2)
        let again = try device.through(network)
        let rest = try await again.own.recordZoneChanges(inZoneWith: zone, since: first.changeToken)
        #expect(names(first).union(names(rest)) == all)
        let audit = try await device.container.audit()
        #expect(audit.outcome == .violated)
        #expect(audit.failures.isEmpty)
        #expect(audit.violations.map(\.recordName) == ["b"])
        #expect(try await device.container.exportData(to: folder("whole"), zoneIDs: [zone]).records == 5)
        #expect(try await device.own.exportRaw(zone, to: folder("raw")).records == 5)
        try await ann.container.forget(ann.container.violations())

        // And the look-up denies it.
        network.inject(.deniedRecord(Record.ID(recordName: "b", zoneID: zone)))
        let denied = try await device.own.recordZoneChanges(inZoneWith: zone)
        expectRefused(denied.modificationResultsByID[Record.ID(recordName: "b", zoneID: zone)]?.error, .rollback)
        #expect(names(denied) == all.subtracting(["b"]))
        let export = try await device.container.exportData(to: folder("part"), zoneIDs: [zone])
        #expect(export.records == 4)
        #expect(export.unreadable == 1)
        await expectRefused(.rollback) { _ = try await device.own.exportRaw(zone, to: folder("none")) }
        await expectRefused(.rollback) {
            _ = try await device.own.exportRaw(zone, recordNames: ["b"], to: folder("none"))
        }
        try await ann.container.forget(ann.container.violations())
        let found = try await device.container.audit()
        #expect(found.outcome == .violated)
        #expect(found.violations.map(\.recordName) == ["b"])
        #expect(found.violations.map(\.code) == [.rollback])
        // A device that has never seen it cannot miss it.
        let (novice, hers) = try ann.freshBehindAttacker()
        hers.inject(.leftOutRecord(Record.ID(recordName: "b", zoneID: zone)))
        #expect(try await names(novice.own.recordZoneChanges(inZoneWith: zone)) == all.subtracting(["b"]))

        // Gone by a signed deletion it is gone, though the feed says nothing of it.
        network.beHonest()
        try await ann.onFreshDevice().own.deleteRecord(withID: Record.ID(recordName: "c", zoneID: zone))
        network.inject(.leftOutRecord(Record.ID(recordName: "c", zoneID: zone)))
        let gone = try await device.own.recordZoneChanges(inZoneWith: zone)
        #expect(gone.deletions.map(\.recordID.recordName) == ["c"])
        #expect(names(gone) == all.subtracting(["c"]))
        network.beHonest()
        try await ann.container.forget(ann.container.violations())
        let clean = try await device.container.audit()
        #expect(clean.failures.isEmpty, "\(clean)")
        #expect(clean.violations.isEmpty, "\(clean)")
        try await attack71Zones(ann, zone)
    }

    private func attack71Zones(_ ann: Person, _ zone: RecordZone.ID) async throws {
        let (device, network) = try ann.behindAttacker()
        network.inject(.leftOutZone(zone))
        #expect(try await device.own.madeRecordZones().map(\.zoneID) == [zone])
        #expect(try await device.own.databaseChanges().modifications.map(\.zoneID) == [zone])
        let kept = try await ann.container.violations()
        #expect(kept.map(\.zoneID) == [zone] && kept[0].reason.contains("out of a list"))
        #expect(try await device.container.exportData(to: folder("zones")).records == 4)
        try await ann.container.forget(ann.container.violations())
        #expect(try await device.container.audit().violations.map(\.zoneID) == [zone])
        // Denied as well: it stays in the list, and nothing passes for all of the account's data.
        network.inject(.deniedZone(zone))
        #expect(try await device.own.madeRecordZones().map(\.zoneID) == [zone])
        await expectRefused(.rollback) { _ = try await device.container.exportData(to: folder("denied")) }
        #expect(try await device.container.audit().failures.map(\.error.code) == [.rollback])
        // A zone that somebody ended is gone.
        network.beHonest()
        try await ann.own.deleteRecordZone(withID: zone)
        #expect(try await device.own.madeRecordZones().isEmpty)
    }

    // MARK: Nothing for an answer

    @Test(
        "A look-up answers nothing for a record, or that its zone is gone: refused like a “no” that nothing signed shows."
    )
    func attack76_nothingForAnAnswer() async throws {
        let ann = try await Person()
        let zone = try await zone(of: ann, ["note"])
        let id = Record.ID(recordName: "note", zoneID: zone)
        let note = try await ann.own.record(for: id)
        let answers: [(Sealkit_V1_RecordResult, SealKitError.Code)] = [
            (Sealkit_V1_RecordResult(), .serverRejectedRequest),
            (.with { $0.failure = Sealkit_V1_Failure(.zoneNotFound, "gone") }, .rollback),
            (.with { $0.failure = Sealkit_V1_Failure(.unknownItem, "gone") }, .unknownItem),
        ]
        for (answer, unseen) in answers {
            let (device, network) = try ann.behindAttacker()
            network.rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { $0.results = [answer] }
            await expectRefused(.rollback) { _ = try await device.own.record(for: id) }
            await expectRefused(.rollback, "nothing is deleted by that") {
                try await device.own.deleteRecord(withID: id)
            }
            network.inject(.leftOutRecord(id))
            await expectRefused(.rollback) {
                _ = try await device.own.exportRaw(zone, recordNames: ["note"], to: folder("raw"))
            }
            // Nobody is told that something is not there by silence.
            let code = await failure {
                _ = try await device.own.record(for: Record.ID(recordName: "other", zoneID: zone))
            }
            #expect(code == unseen)
        }
        // The answer to a save, too.
        let (device, network) = try ann.behindAttacker()
        network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
            answer.results = answer.results.map { _ in .with { $0.failure = Sealkit_V1_Failure(.unknownItem, "gone") } }
        }
        // What it goes on denying is hidden; what it shows when it is asked again is not.
        network.rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
            answer.results = answer.results.map { _ in .with { $0.failure = Sealkit_V1_Failure(.unknownItem, "gone") } }
        }
        var edited = note
        edited.encryptedValues["body"] = "edited"
        let change = edited
        await expectRefused(.rollback) { _ = try await device.own.save(change) }
        // Of the whole zone: also that its user has purged it, on which an app drops what it has.
        for code in [ErrorCode.zoneNotFound, .userDeletedZone] {
            network.beHonest()
            network.lie { path, _, response in
                guard
                    path.hasSuffix("records/modify") || path.hasSuffix("records/changes")
                        || path.hasSuffix("records/query")
                else { return }
                response = TransportResponse(status: 404, body: try Sealkit_V1_Failure(code, "gone").serializedData())
            }
            await expectRefused(.rollback) { _ = try await device.own.save(change) }
            await expectRefused(.rollback) { _ = try await device.own.recordZoneChanges(inZoneWith: zone) }
            await expectRefused(.rollback) { _ = try await device.own.exportRaw(zone, to: folder("raw")) }
            await expectRefused(.rollback) {
                _ = try await device.own.records(
                    matching: Query(recordType: "Note", predicate: try Query.Predicate("age > 0")), inZoneWith: zone)
            }
        }
        // A share that the server denies is not left out of an export.
        _ = try await ann.share(zone, [])
        network.beHonest()
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
            answer.rosters = [.with { $0.failure = Sealkit_V1_Failure(.zoneNotFound, "gone") }]
        }
        await expectRefused(.rollback) { _ = try await device.own.share(for: zone) }
        await expectRefused(.rollback, "also asked again") { _ = try await device.own.share(for: zone) }
    }

    // MARK: One lie

    @Test(
        "After a server once showed a fresh device nothing, its user takes honest records over, and none of somebody's who may write no more."
    )
    func attack77_oneLieBarsNobodyForGood() async throws {
        let world = try await AttackedZone()
        for name in ["r0", "r1"] { try await world.ann.own.save(world.ann.note(in: world.zone, "honest", name: name)) }
        try await world.bob.shared.save(world.bob.note(in: world.joined, "Bob's", name: "r2"))
        let bobs = try await world.view(world.bob)
        try await AttackedZone.remove(world.bob, from: world.zone, of: world.ann)
        let forged = try await Forgery.record(by: world.bob, zone: world.joined, body: "back-dated", view: bobs)

        let (carol, network) = try world.carol.freshBehindAttacker()
        network.inject(.emptyFeed(of: world.joined))
        #expect(try await carol.shared.recordZoneChanges(inZoneWith: world.joined).modifications.isEmpty)
        network.beHonest()
        func id(_ name: String) -> Record.ID { Record.ID(recordName: name, zoneID: world.joined) }
        let error = await expectRefused(.rollback) { _ = try await carol.shared.record(for: id("r0")) }
        #expect(error.map { $0.reason + $0.remedy }?.contains("removed") == false, "nobody is accused")
        let late = try await carol.shared.lateRecords(inZoneWith: world.joined)
        #expect(Set(late.map(\.recordID.recordName)).isSuperset(of: ["r0", "r1", "r2", "note"]))
        for one in late { #expect(one.isAuthorVouchedFor == (one.authorUserRecordID.recordName == world.ann.name)) }
        let results = try await carol.shared.accept(late)
        #expect(try results[id("r0")]?.get()?.encryptedValues["body"] == "honest")
        expectRefused(results[id("r2")]?.error, .permissionFailure)
        #expect(
            try await carol.body(of: id("r1")) == "honest"
                && results[id("r2")]?.error?.lateRecord?.isAuthorVouchedFor == false)
        let audit = try await carol.container.audit()
        #expect(
            Set(audit.acceptances.map(\.recordName))
                == Set(late.filter(\.isAuthorVouchedFor).map(\.recordID.recordName)))
        #expect(
            audit.acceptances.allSatisfy {
                $0.authorUserRecordID.recordName == world.ann.name && $0.zoneID == world.joined
            })

        // What was not written then looks just like it, and is refused just so: also when the user says yes.
        network.show([forged])
        let told = await expectRefused(.rollback) { _ = try await carol.shared.record(for: id("forged")) }
        let wanted = try #require(told?.lateRecord)
        expectRefused(try await carol.shared.accept([wanted])[id("forged")]?.error, .permissionFailure)
        #expect(await failure { _ = try await carol.shared.record(for: id("forged")) } == .rollback)
        // Nor does another version pass for the one that was accepted.
        let other = try await Forgery.record(by: world.bob, zone: world.joined, body: "another", view: bobs)
        network.beHonest()
        network.show([other])
        expectRefused(try await carol.shared.accept([wanted])[id("forged")]?.error, .serverRecordChanged)

        // The owner, who says who may write, accepts what a former participant left; sealed again it counts for
        // everybody.
        let (ann, hers) = try world.ann.freshBehindAttacker()
        hers.inject(.emptyFeed(of: world.zone))
        _ = try await ann.own.recordZoneChanges(inZoneWith: world.zone)
        hers.beHonest()
        let r2 = Record.ID(recordName: "r2", zoneID: world.zone)
        let hidden = await expectRefused(.rollback) { _ = try await ann.own.record(for: r2) }
        let accepted = try await ann.own.accept([try #require(hidden?.lateRecord)])
        #expect(try accepted[r2]?.get()?.encryptedValues["body"] == "Bob's")
        try await ann.own.rekey(world.zone)
        network.beHonest()
        #expect(try await carol.body(of: id("r2")) == "Bob's")
    }

    @Test func theCommandShowsWhatCameLateAndAcceptsIt() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await Person(server)
        let zone = try await ann.makeZone("Notes")
        for name in ["r0", "r1"] { try await ann.own.save(ann.note(in: zone, "honest", name: name)) }
        try await ann.own.rotateKeys(of: zone)
        let file = folder("ann.json")
        try KeyFile.write(ann.account, to: file, passphrase: nil)
        let network = try HostileNetwork(server)
        network.inject(.emptyFeed(of: zone))
        let trust = try TrustStore(file: URL(fileURLWithPath: file.path + ".trust"))
        let fresh = try ann.starting(from: ann.account.seeds, trust: trust, transport: network)
        _ = try await fresh.own.recordZoneChanges(inZoneWith: zone)
        func run(_ arguments: String...) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable,
                arguments + ["--key-file", file.path, "--container", ann.container.containerIdentifier])
        }
        let refused = try await run("record", "get", "r0", "--zone", "Notes")
        #expect(refused.status == 76, "\(refused)")
        #expect(refused.errors.contains("sealkit record accept"), "\(refused)")
        #expect(!refused.errors.contains("removed"), "\(refused)")
        let list = try await run("record", "accept", "--list", "--zone", "Notes")
        #expect(list.status == 0, "\(list)")
        #expect(list.output.contains("r0"), "\(list)")
        #expect(list.output.contains(ann.name), "\(list)")
        #expect(try await run("record", "accept", "--zone", "Notes").status == 64)
        #expect(try await run("record", "accept", "r0", "--zone", "Notes").status == 0)
        #expect(try await run("record", "get", "r0", "--zone", "Notes").output.contains("honest"))
        #expect(try await run("record", "accept", "r0", "--zone", "Notes").status != 0, "it counts already")
        #expect(try await run("record", "accept", "--all", "--zone", "Notes").status == 0)
        #expect(try await run("record", "list", "--zone", "Notes").status == 0)
        _ = try await run("audit", "--forget")
        let audit = try await run("audit")
        #expect(audit.status == 0, "\(audit)")
        #expect(audit.output.contains("accepted"), "\(audit)")
        #expect(audit.output.contains("r1, which came late"), "\(audit)")
    }

    // MARK: Without end

    @Test("More is coming without end, parts come twice, or tokens do not move: refused at the first sign, everywhere.")
    func attack78_partsWithoutEnd() async throws {
        let ann = try await Person()
        let zone = try await zone(of: ann, ["a", "b", "c"])
        try await ann.own.rotateKeys(of: zone)
        typealias Lie = @Sendable (_ asked: Data, inout Sealkit_V1_RecordChangesResponse) throws -> Void
        let number = LockedValue(0)
        let lies: [(String, Lie)] = [
            (
                "the same again",
                { _, answer in
                    number.change { $0 += 1 }
                    answer.token += Data([UInt8(truncatingIfNeeded: number.value)])
                    answer.moreComing = true
                }
            ),
            (
                "a token that stays",
                { asked, answer in
                    if !asked.isEmpty { answer.token = asked }
                    answer.moreComing = true
                }
            ),
            (
                "no token",
                { _, answer in
                    answer.token = Data()
                    answer.moreComing = true
                }
            ),
            (
                "nothing, and more",
                { _, answer in
                    answer.records = []
                    answer.moreComing = true
                }
            ),
            ("one twice", { _, answer in if let first = answer.records.first { answer.records.append(first) } }),
        ]
        for (what, lie) in lies {
            func deceived() throws -> (Person, HostileNetwork) {
                let (person, network) = try ann.freshBehindAttacker()
                // Whatever is asked for, the answer is that of the beginning.
                let first = LockedValue(Data())
                network.lie { path, request, response in
                    guard path.hasSuffix("records/changes") else { return }
                    let asked = try Sealkit_V1_RecordChangesRequest(serializedBytes: request).token
                    let real = response
                    if real.status < 400, first.value.isEmpty { first.change { $0 = real.body } }
                    var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: first.value)
                    try lie(asked, &answer)
                    response = TransportResponse(status: 200, body: try answer.serializedData())
                }
                return (person, network)
            }
            let readers: [(String, @Sendable (Person) async throws -> Void)] = [
                ("an app", { _ = try await read($0.own, zone) }),
                (
                    "an archive",
                    { _ = try await $0.container.exportData(to: folder(UUID().uuidString), zoneIDs: [zone]) }
                ),
                ("a raw export", { _ = try await $0.own.exportRaw(zone, to: folder(UUID().uuidString)) }),
                ("new seals", { _ = try await $0.own.rekey(zone) }),
                (
                    "an audit",
                    { person in
                        let audit = try await person.container.audit()
                        if let error = audit.failures.first?.error { throw error }
                    }
                ),
            ]
            for (who, reader) in readers {
                let (person, network) = try deceived()
                await expectRefused(.serverRejectedRequest, "\(what): \(who)") { try await reader(person) }
                #expect(network.sent(to: "records/changes").count <= 2, "\(what): \(who)")
            }
        }
        try await attack74Lists(ann, zone)
    }

    private func attack74Lists(_ ann: Person, _ zone: RecordZone.ID) async throws {
        _ = try await ann.makeZone()
        let (zones, first) = try ann.behindAttacker()
        first.rewrite("zones/changes", Sealkit_V1_DatabaseChangesResponse.self) { $0.moreComing = true }
        await expectRefused(.serverRejectedRequest, "zones") {
            var token: ServerChangeToken?
            for _ in 0..<5 {
                let changes = try await zones.own.databaseChanges(since: token)
                guard changes.moreComing else { return }
                token = changes.changeToken
            }
        }
        // Each time at a place of its own, as zones that have changed meanwhile would come.
        for hasNewPlaces in [true, false] {
            let (again, network) = try ann.behindAttacker()
            let (honest, number) = (LockedValue(Data()), LockedValue(0))
            network.lie { path, _, response in
                guard path.hasSuffix("zones/changes") else { return }
                let real = response
                if honest.value.isEmpty { honest.change { $0 = real.body } }
                number.change { $0 += 1 }
                var answer = try Sealkit_V1_DatabaseChangesResponse(serializedBytes: honest.value)
                answer.token = Data([UInt8(hasNewPlaces ? number.value : number.value % 2)])
                answer.moreComing = true
                response = TransportResponse(status: 200, body: try answer.serializedData())
            }
            await expectRefused(.serverRejectedRequest, "the same zones") {
                var token: ServerChangeToken?
                for _ in 0..<40 { token = try await again.own.databaseChanges(since: token).changeToken }
            }
            #expect(network.sent(to: "zones/changes").count <= (hasNewPlaces ? 20 : 3))
        }
        let (shares, second) = try ann.behindAttacker()
        second.rewrite("shares/lookup", Sealkit_V1_LookupSharesResponse.self) { $0.moreComing = true }
        await expectRefused(.serverRejectedRequest, "shares") { try await shares.own.deleteRecordZone(withID: zone) }
        var thing = Record(recordType: "Thing", recordID: Record.ID(recordName: "thing", zoneID: zone))
        thing["age"] = 1
        try await ann.own.save(thing)
        let (queries, third) = try ann.behindAttacker()
        third.rewrite("records/query", Sealkit_V1_QueryRecordsResponse.self) { $0.cursor = Data([1]) }
        await expectRefused(.serverRejectedRequest, "a query") {
            var page = try await queries.own.records(
                matching: Query(recordType: "Thing", predicate: try Query.Predicate("age > 0")), inZoneWith: zone)
            for _ in 0..<5 {
                guard let cursor = page.queryCursor else { return }
                third.beHonest()
                third.lie { path, _, response in
                    guard path.hasSuffix("records/query") else { return }
                    response = TransportResponse(
                        status: 200,
                        body: try Sealkit_V1_QueryRecordsResponse.with { $0.cursor = Data([1]) }.serializedData())
                }
                page = try await queries.own.records(continuingMatchFrom: cursor)
            }
        }
        let (sealing, fourth) = try ann.behindAttacker()
        fourth.rewrite("records/stale", Sealkit_V1_StaleRecordsResponse.self) { $0.records.reverse() }
        await expectRefused(.serverRejectedRequest, "records under older keys") {
            _ = try await sealing.own.rekey(zone)
        }
        #expect(fourth.sent(to: "records/modify").isEmpty, "before anything is sealed")
    }

    /// Reads a zone to its end, or until an attacker has kept it busy for a while.
    private func read(_ database: Database, _ zone: RecordZone.ID, limit: Int? = nil) async throws
        -> Database.RecordZoneChanges
    {
        var all = try await database.recordZoneChanges(inZoneWith: zone, resultsLimit: limit)
        for _ in 0..<20 {
            guard all.moreComing else { return all }
            let next = try await database.recordZoneChanges(
                inZoneWith: zone, since: all.changeToken, resultsLimit: limit)
            all.modifications += next.modifications
            all.deletions += next.deletions
            (all.changeToken, all.moreComing) = (next.changeToken, next.moreComing)
        }
        return all
    }

    // MARK: After the end

    @Test(
        "A former participant writes under the last key of a share that ended: refused by whoever has read past the end."
    )
    func attack79_afterTheEndOfAShare() async throws {
        let it = try await HierarchicalShareTests().shared()
        let share = Record.ID(recordName: it.share.recordID.recordName, zoneID: it.joined)
        let bobs = try await it.bob.shared.keeper(ofShare: share).refresh()
        var statement = Forgery.statement(by: it.bob, bobs, name: "late")
        statement.parent = "list"
        let forged = try Forgery.record(
            statement, [("body", .encrypted(.string("late")))], by: it.bob, key: try bobs.currentKey())
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let ended = try await it.ann.own.keeper(ofShare: it.share.recordID).refresh()
        #expect(ended.roster.isClosed)
        #expect(ended.roster.currentEpoch.number == statement.epoch)
        let late = Record.ID(recordName: "late", zoneID: it.zone)
        let (novice, open) = try it.ann.freshBehindAttacker()
        open.show([forged], citing: [ended])
        #expect(try await novice.body(of: late) == "late", "nothing but what was read before stands against it")
        _ = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone)
        let (ann, network) = try it.ann.behindAttacker()
        network.show([forged], citing: [ended])
        await expectRefused(.rollback) { _ = try await ann.own.record(for: late) }
        #expect(try await it.ann.body(of: it.item.recordID) == "item")
    }
}
