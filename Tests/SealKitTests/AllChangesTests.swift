import Foundation
import SealKitTesting
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// A zone read to its end: each part is asked for while the one before is read, and nothing else changes by that.
@Suite(.timeLimit(.minutes(60))) struct AllChangesTests {
    private static let names = (0..<6).map { "note \($0)" }

    private let ann: Person
    private let zone: RecordZone.ID

    init() async throws {
        ann = try await Person()
        zone = try await ann.makeZone()
        for name in Self.names { try await ann.own.save(ann.note(in: zone, "of \(name)", name: name)) }
    }

    /// Two records a part.
    private func all(_ person: Person) -> Database.AllRecordZoneChanges {
        person.own.allRecordZoneChanges(inZoneWith: zone, resultsLimit: 2)
    }

    private func names(_ changes: Database.RecordZoneChanges) -> [String] {
        changes.modifications.map(\.recordID.recordName)
    }

    /// Waits until so many questions have reached the network.
    private func asked(_ count: Int, _ network: HostileNetwork) async throws {
        while questions(network) < count { try await Task.sleep(for: .milliseconds(2)) }
    }

    private func questions(_ network: HostileNetwork) -> Int {
        network.requests.count { $0.hasSuffix("records/changes") }
    }

    @Test func aLoopGetsWhatCallsGetByAsManyRequests() async throws {
        let (byCalls, calls) = try ann.freshBehindAttacker()
        var pages: [[String]] = []
        var token: ServerChangeToken?
        var isMore = true
        while isMore {
            let page = try await byCalls.own.recordZoneChanges(inZoneWith: zone, since: token, resultsLimit: 2)
            pages.append(names(page))
            (token, isMore) = (page.changeToken, page.moreComing)
        }
        let (byLoop, loop) = try ann.freshBehindAttacker()
        var found: [[String]] = []
        var last: ServerChangeToken?
        for try await changes in all(byLoop) {
            for (_, result) in changes.modifications { #expect(try result.get().encryptedValues.allKeys() == ["body"]) }
            found.append(names(changes))
            last = changes.changeToken
        }
        #expect(found == pages && found.flatMap { $0 } == Self.names)
        #expect(loop.sent(to: "records/changes") == calls.sent(to: "records/changes"))
        #expect(last == token)
        // From there nothing is new.
        var rest = 0
        for try await changes in byLoop.own.allRecordZoneChanges(inZoneWith: zone, since: last) {
            #expect(changes.modifications.isEmpty && !changes.moreComing)
            rest += 1
        }
        #expect(rest == 1)
    }

    /// One part ahead, and no more than one.
    @Test func theNextPartIsAskedForBeforeItIsWanted() async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        var iterator = all(reader).makeAsyncIterator()
        _ = try await iterator.next()
        try await asked(2, network)
        await settle()
        #expect(questions(network) == 2)
        _ = try await iterator.next()
        try await asked(3, network)
        #expect(try await iterator.next() != nil)
        var rest = 0
        while try await iterator.next() != nil { rest += 1 }
        #expect(rest <= 1)
        #expect(try await iterator.next() == nil)
        #expect(questions(network) == network.sent(to: "records/changes").count)
    }

    /// Lets whatever was begun go on.
    private func settle() async { for _ in 0..<200 { await Task.yield() } }

    @Test func aLoopThatIsLeftAsksForOnePartInVain() async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        for try await changes in all(reader) {
            #expect(names(changes) == ["note 0", "note 1"])
            break
        }
        await settle()
        #expect(questions(network) <= 2)
        // What it had asked for is no part of another reading.
        var found: [String] = []
        for try await changes in all(reader) { found += names(changes) }
        #expect(found == Self.names)
    }

    /// Holds the question that is asked ahead until whoever asks is cancelled.
    private func holding(_ network: HostileNetwork) -> LockedValue<Bool> {
        let isCancelled = LockedValue(false)
        let free = Countdown(1)
        network.inject(
            ServerFault(arriving: { path throws(SealKitError) in
                guard path.hasSuffix("records/changes"), !free.isLeft() else { return }
                do { try await Task.sleep(for: .seconds(3600)) } catch {
                    isCancelled.change { $0 = true }
                    throw .cancelled
                }
            }))
        return isCancelled
    }

    @Test func aReaderThatIsCancelledCancelsWhatItHasAsked() async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        let isCancelled = holding(network)
        let sequence = all(reader)
        let seen = LockedValue(0)
        let task = Task { () -> SealKitError.Code? in
            await failure { for try await _ in sequence { seen.change { $0 += 1 } } }
        }
        try await asked(2, network)
        while seen.value < 1 { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        #expect(await task.value == .operationCancelled)
        #expect(seen.value == 1 && isCancelled.value)
        #expect(questions(network) == 2)
    }

    /// The part that came before is the reader's all the same.
    @Test func aLoopThatEndsCancelsWhatItHasAsked() async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        let isCancelled = holding(network)
        for try await changes in all(reader) {
            #expect(names(changes) == ["note 0", "note 1"])
            try await asked(2, network)
            break
        }
        while !isCancelled.value { try await Task.sleep(for: .milliseconds(2)) }
        #expect(questions(network) == 2)
    }

    @Test(arguments: [SealKitError.Code.changeTokenExpired, .zoneNotFound, .permissionFailure])
    func aPartThatFailsComesAfterTheOneBefore(code: SealKitError.Code) async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        let free = Countdown(1)
        network.inject(
            ServerFault(arriving: { path throws(SealKitError) in
                guard path.hasSuffix("records/changes"), !free.isLeft() else { return }
                throw SealKitError(code, "of the second part")
            }))
        var iterator = all(reader).makeAsyncIterator()
        #expect(try await iterator.next().map(names) == ["note 0", "note 1"])
        // A zone that a server denies has to show who ended it.
        let expected = code == .zoneNotFound ? .rollback : code
        #expect(await failure { _ = try await iterator.next() } == expected)
        #expect(try await iterator.next() == nil)
        #expect(questions(network) == 2)
    }

    /// Changes the second part alone.
    private func rewriteSecond(
        _ network: HostileNetwork, _ change: @escaping @Sendable (inout Sealkit_V1_RecordChangesResponse) -> Void
    ) {
        let free = Countdown(1)
        network.rewrite("records/changes", Sealkit_V1_RecordChangesResponse.self) { answer in
            if !free.isLeft() { change(&answer) }
        }
    }

    @Test func whatDoesNotVerifyInAPartThatWasAskedAheadIsToldThere() async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        rewriteSecond(network) { answer in
            if !answer.records.isEmpty { answer.records[0].proof.signature = Data(repeating: 1, count: 64) }
        }
        var iterator = all(reader).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.modifications.allSatisfy { $0.result.isSuccess })
        let second = try #require(try await iterator.next())
        #expect(second.modifications.map { $0.result.failureCode } == [.integrityFailure, nil])
    }

    /// A part that is asked ahead may not fall behind the rosters that the one before has brought.
    @Test func aPartThatFallsBehindTheRosterOfTheOneBeforeIsARollback() async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        _ = try await reader.own.recordZoneChanges(inZoneWith: zone)
        let heard = try #require(network.exchanges.last { $0.path.hasSuffix("records/changes") })
        let before = try Sealkit_V1_RecordChangesResponse(serializedBytes: heard.response).scopes
        _ = try await ann.own.save(Share(recordZoneID: zone))
        rewriteSecond(network) { $0.scopes = before }
        var iterator = all(reader).makeAsyncIterator()
        #expect(try await iterator.next().map(names) == ["note 0", "note 1"])
        #expect(await failure { _ = try await iterator.next() } == .rollback)
        #expect(try await iterator.next() == nil)
    }

    /// What this device writes to records that are on their way is what it gets, and accuses nobody.
    @Test func whatIsWrittenMeanwhileIsNotTakenForARollback() async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        let later = try await ann.own.records(for: Self.names.map { Record.ID(recordName: $0, zoneID: zone) })
        var bodies: [String: String] = [:]
        var gone: [String] = []
        var isFirst = true
        for try await changes in all(reader) {
            for (id, result) in changes.modifications {
                bodies[id.recordName] = try result.get().encryptedValues["body"]
            }
            gone += changes.deletions.map(\.recordID.recordName)
            guard isFirst else { continue }
            isFirst = false
            try await asked(2, network)
            while network.sent(to: "records/changes").count < 2 { try await Task.sleep(for: .milliseconds(2)) }
            var changed = try #require(later[Record.ID(recordName: "note 2", zoneID: zone)]).get()
            changed.encryptedValues["body"] = "meanwhile"
            try await reader.own.save(changed)
            try await reader.own.deleteRecord(withID: Record.ID(recordName: "note 3", zoneID: zone))
            try await reader.own.save(reader.note(in: zone, "new", name: "note 6"))
        }
        #expect(bodies["note 2"] == "meanwhile" && bodies["note 6"] == "new")
        #expect(bodies["note 3"] == nil && gone.contains("note 3"))
        #expect(try await reader.container.violations().isEmpty)
    }

    /// What is on its way belongs to one question, of one account.
    @Test func anotherQuestionDropsWhatIsOnItsWay() async throws {
        let (reader, network) = try ann.freshBehindAttacker()
        let ahead = FeedAhead()
        let database = reader.own.readingAhead(ahead)
        let first = try await database.recordZoneChanges(inZoneWith: zone, resultsLimit: 2)
        try await asked(2, network)
        // Another limit: not what was asked.
        let other = try await database.recordZoneChanges(
            inZoneWith: zone, since: first.changeToken, resultsLimit: 1)
        #expect(names(other) == ["note 2"])
        let stranger = try await Person()
        let question = [zone: Database.ZoneChangesConfiguration(previousServerChangeToken: first.changeToken)]
        ahead.ask(question, of: reader.own, by: .alone)
        #expect(ahead.take(question, of: stranger.own) == nil)
        #expect(ahead.take(question, of: reader.own) == nil)
        ahead.ask(question, of: reader.own, by: .alone)
        let answer = try #require(ahead.take(question, of: reader.own))
        #expect(try await answer.value().zones.map(\.zoneID) == [zone])
    }
}
