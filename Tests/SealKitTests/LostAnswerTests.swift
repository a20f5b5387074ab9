import Foundation
import NIOCore
import SealClient
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Requests and answers that are lost, for each call that changes something: it happens once, whatever was lost.
@Suite(.timeLimit(.minutes(60))) struct LostAnswerTests {
    static let losses: [[LossyTransport.Loss]] = [[.request], [.answer], [.answer, .request, .answer]]

    /// The same person on a network that loses what is said for one kind of call.
    private func lossy(
        _ person: Person, _ suffix: String, _ losses: [LossyTransport.Loss]
    ) throws -> (person: Person, network: LossyTransport, pacing: FakePacing) {
        let network = LossyTransport(try HTTPTransport(server: person.server.origin), losing: suffix, losses)
        let pacing = FakePacing()
        return (try person.through(network, pacing: pacing.pacing), network, pacing)
    }

    /// Every attempt was the same request.
    private func expectRepeated(_ network: LossyTransport, _ losses: [LossyTransport.Loss]) {
        #expect(network.bodies.count == losses.count + 1)
        #expect(Set(network.bodies).count == 1)
    }

    @Test(arguments: losses) func aSaveIsStoredOnce(losses: [LossyTransport.Loss]) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (away, network, _) = try lossy(ann, "records/modify", losses)
        let saved = try await away.own.save(ann.note(in: zone, "once", name: "note"))
        expectRepeated(network, losses)
        let found = try await ann.own.record(for: saved.recordID)
        #expect(found.recordChangeTag == saved.recordChangeTag)
        #expect(found.base?.statement.revision == 1)
        // Nothing stands in the way of the next change.
        var next = saved
        next.encryptedValues["body"] = "twice"
        #expect(try await away.own.save(next).base?.statement.revision == 2)
    }

    @Test(arguments: losses) func aDeletionIsMadeOnce(losses: [LossyTransport.Loss]) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "x"))
        let (away, network, _) = try lossy(ann, "records/modify", losses)
        try await away.own.deleteRecord(withID: note.recordID)
        expectRepeated(network, losses)
        let changes = try await ann.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.deletions.map(\.recordID) == [note.recordID])
        #expect(changes.modifications.isEmpty)
    }

    @Test(arguments: losses) func aZoneIsMadeAndDeletedOnce(losses: [LossyTransport.Loss]) async throws {
        let ann = try await Person()
        let id = RecordZone.ID(zoneName: "zone-\(UUID().uuidString.prefix(8))")
        let (away, network, _) = try lossy(ann, "zones/modify", losses)
        #expect(try await away.own.save(RecordZone(zoneID: id)).zoneID == id)
        expectRepeated(network, losses)
        let core = ann.container.core
        #expect(try await core.keeper(of: core.scope(of: id)).refresh().roster.nextSequence == 1)

        let (again, second, _) = try lossy(ann, "zones/modify", losses)
        try await again.own.deleteRecordZone(withID: id)
        expectRepeated(second, losses)
        #expect(await failure { _ = try await ann.own.recordZone(for: id) } == .zoneNotFound)
    }

    @Test(arguments: losses) func aRosterEntryIsAppendedOnce(losses: [LossyTransport.Loss]) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.save(ann.note(in: zone, "x"))
        let (away, network, _) = try lossy(ann, "rosters/append", losses)
        try await away.own.rotateKeys(of: zone)
        expectRepeated(network, losses)
        let core = away.container.core
        let roster = try await core.keeper(of: core.scope(of: zone)).refresh().roster
        #expect(roster.currentEpoch.number == 1)
        #expect(roster.nextSequence == 2)
    }

    @Test(arguments: losses) func aShareIsAcceptedOnce(losses: [LossyTransport.Loss]) async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "for Bob"))
        var share = Share(recordZoneID: zone)
        share.addParticipant(try await ann.container.shareParticipant(forUserRecordID: bob.container.userRecordID()))
        share = try await ann.own.save(share)
        let (away, network, _) = try lossy(bob, "share/accept", losses)
        let joined = try await away.container.accept(
            try await away.container.shareMetadata(for: try #require(share.url)))
        expectRepeated(network, losses)
        let found = try await away.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: joined))
        #expect(found.encryptedValues["body"] == "for Bob")
        #expect(try await ann.own.share(for: zone).participants.map(\.acceptanceStatus) == [.accepted, .accepted])
    }

    @Test(arguments: losses) func aRequestForAccessIsMadeOnce(losses: [LossyTransport.Loss]) async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share()
        try await ann.edit(zone) { $0.allowsAccessRequests = true }
        let (away, network, _) = try lossy(bob, "share/request", losses)
        try await away.container.requestShareAccess(try #require(share.url), contact: "Bob")
        expectRepeated(network, losses)
        #expect(try await ann.share(of: zone).requesters.map(\.contact) == ["Bob"])
    }

    @Test(arguments: losses) func anAccountIsMadeOnce(losses: [LossyTransport.Loss]) async throws {
        let server = try ServerProcess.shared.get()
        let network = LossyTransport(
            try HTTPTransport(server: server.origin), losing: "accounts/create", Array(losses.prefix(2)))
        let (account, recoveryKey) = try await Account.create(transport: network, deviceName: "test")
        #expect(try await account.status() == .available)
        // A challenge is good once: each attempt answers a new one. The recovery bundle is that of the key that was
        // shown.
        let attempts = min(losses.count, 2) + 1
        #expect(network.bodies.count == attempts)
        #expect(Set(network.bodies).count == network.bodies.count)
        let recovered = try await Account.recover(recoveryKey, transport: HTTPTransport(server: server.origin))
        #expect(recovered.session.publicKey == account.session.publicKey)
    }

    /// A server that says that it is busy may have used the challenge up.
    @Test func aBusyServerIsGivenAnotherChallenge() async throws {
        let server = try ServerProcess.shared.get()
        let busy = SealKitError(.zoneBusy, "the test says so", retryAfter: 0.01)
        let network = LossyTransport(
            try HTTPTransport(server: server.origin), losing: "accounts/create", [.late(busy), .late(busy)])
        let (account, _) = try await Account.create(transport: network, deviceName: "test")
        #expect(try await account.status() == .available)
        #expect(network.bodies.count == 3)
        #expect(Set(network.bodies).count == 3)
    }

    @Test(arguments: ["accounts/login", "accounts/challenge", "accounts/identity"])
    func whatTheSDKSaysForItselfIsSaidAgain(call: String) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (away, network, _) = try lossy(ann, call, [.answer, .request])
        #expect(try await away.own.recordZone(for: zone).zoneID == zone)
        #expect(network.bodies.count >= 3)
    }

    /// A failure is the call's that meets with it, not all those that follow.
    @Test(arguments: ["accounts/login", "accounts/identity"])
    func whatCouldNotBeSaidIsSaidByTheNextCall(call: String) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (away, network, _) = try lossy(ann, call, Array(repeating: .request, count: 100))
        #expect(await failure { _ = try await away.own.recordZone(for: zone) } == .networkFailure)
        network.lose([])
        #expect(try await away.own.recordZone(for: zone).zoneID == zone)
    }

    @Test func loggingOutTwiceIsLoggingOut() async throws {
        let ann = try await Person()
        let (away, _, _) = try lossy(ann, "accounts/logout", [.answer])
        try await away.account.requireSession()
        try await away.account.logOut()
    }

    /// What the server could not be told has ended here all the same.
    @Test func aDeviceThatCannotSayThatItLogsOutIsLoggedOut() async throws {
        let ann = try await Person()
        let (away, network, _) = try lossy(ann, "accounts/logout", Array(repeating: .request, count: 20))
        try await away.account.requireSession()
        #expect(await failure { try await away.account.logOut() } == .networkFailure)
        let before = network.calls
        _ = try await away.own.allRecordZones()
        let since = network.calls.dropFirst(before.count)
        #expect(since.contains("/1/accounts/login"), "the session that it had is not used again")
    }

    /// Said again, the server hears of what has ended here.
    @Test func loggingOutAgainEndsTheSessionThatTheServerHasStill() async throws {
        let ann = try await Person()
        let (away, network, _) = try lossy(ann, "accounts/logout", Array(repeating: .request, count: 20))
        let token = try await away.account.session.token()
        #expect(await failure { try await away.account.logOut() } == .networkFailure)
        network.lose([])
        try await away.account.logOut()
        let answer = try await network.get(Endpoints.accounts.me.route.template, token: token)
        #expect(answer.failure.code == .sessionExpired)
    }

    /// Of calls that learn one after the other that their session has ended, the first begins another one.
    @Test func anEndThatIsHeardOfLateEndsNoOtherSession() async throws {
        let session = try await Person().account.session
        let ended = try await session.token()
        let begun = try await session.renewedToken(insteadOf: ended)
        #expect(begun != ended)
        #expect(try await session.renewedToken(insteadOf: ended) == begun)
        #expect(try await session.token() == begun)
    }

    /// A second mail would be a second effect, so a lost answer is told.
    @Test func aCodeIsAskedForOnce() async throws {
        let ann = try await Person()
        let address = "once-\(UUID().uuidString.prefix(8).lowercased())@example.org"
        let (away, network, pacing) = try lossy(ann, "verification/begin", [.answer])
        #expect(await failure { _ = try await away.container.beginVerification(of: address) } == .serverResponseLost)
        #expect(network.bodies.count == 1)
        #expect(pacing.sleeps.isEmpty)
        _ = try await ann.code(address)
        #expect(ann.server.mail?.messages(to: address).count == 1)
        // What never arrived is sent again.
        let (second, sent, _) = try lossy(ann, "verification/begin", [.request])
        _ = try await second.container.beginVerification(of: address)
        #expect(sent.bodies.count == 2)
    }

    /// Of what is revoked the server says the same as of what never was, so a lost answer is told; asked again, it says
    /// that it was done.
    @Test func whatIsRevokedIsRevokedOnce() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await Person(server)
        let (token, user) = (try operatorToken(server), ann.name)
        let container = ann.container.core.identifier
        @Sendable func management(_ transport: any Transport) throws -> ContainerManagement {
            try ContainerManagement(container, token: token, transport: transport)
        }
        let direct = try HTTPTransport(server: server.origin)
        let key = try await ann.container.createServerKey(name: "importer").userRecordID
        _ = try await management(direct).importSchema(SchemaCommandTests.schema)
        try await management(direct).assignRole("Editor", toUser: user, in: .development)
        let made = try await ManagementTokens(operatorToken: token, transport: direct).create(
            for: container, name: "CI"
        ).entry.id

        let network = LossyTransport(direct, losing: "/revoke", [])
        let away = try ann.through(network, pacing: FakePacing().pacing)
        let revocations: [@Sendable () async throws -> Void] = [
            { try await away.container.revokeServerKey(key) },
            { try await management(network).revokeRole("Editor", fromUser: user, in: .development) },
            { try await ManagementTokens(operatorToken: token, transport: network).revoke(made) },
        ]
        for (index, revoke) in revocations.enumerated() {
            network.lose([.answer])
            #expect(await failure { try await revoke() } == .serverResponseLost)
            #expect(network.bodies.count == 2 * index + 1, "it is not sent again")
            #expect(await failure { try await revoke() } == .unknownItem)
        }
        #expect(try await ann.container.serverKeys().isEmpty)
        #expect(try await management(direct).roles(in: .development).assignments.isEmpty)
        #expect(try await ManagementTokens(operatorToken: token, transport: direct).list().isEmpty)
    }

    /// Two pages in turn, each saying that more is coming.
    @Test func aListOfTokensThatGoesInCirclesEnds() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let network = try HostileNetwork(server)
        let count = LockedValue(0)
        network.rewrite("management-tokens/list", Sealkit_V1_ListManagementTokensResponse.self) { answer in
            count.change { $0 += 1 }
            guard count.value < 20 else { return }
            answer.tokens = [.with { $0.id = "token \(count.value % 2)" }]
            answer.moreComing = true
        }
        let tokens = ManagementTokens(operatorToken: try operatorToken(server), transport: network)
        #expect(await failure { _ = try await tokens.list() } == .serverRejectedRequest)
        #expect(count.value == 3)
    }

    /// These say how things are to be: they are said again, and what cannot be known is not called a failure of the
    /// network.
    @Test func whatManagesAContainerIsSaidAgain() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await Person(server)
        let user = ann.name
        _ = try await ann.container.createServerKey(name: "first")
        let network = LossyTransport(try HTTPTransport(server: server.origin), losing: "/", [])
        let management = try ContainerManagement(
            ann.container.core.identifier, token: try operatorToken(server), transport: network)
        let away = try ann.through(network, pacing: FakePacing().pacing)
        try await away.account.requireSession()
        _ = try await away.container.serverKeys()
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await management.importSchema(SchemaCommandTests.schema) },
            { try await management.assignRole("Editor", toUser: user, in: .development) },
            { _ = try await management.deploySchema() },
            { _ = try await management.resetSchema() },
            { _ = try await away.container.createServerKey(name: "another") },
        ]
        for call in calls {
            network.lose([.answer])
            #expect(await failure { try await call() } == nil)
            network.lose([.answer] + Array(repeating: .request, count: 3))
            #expect(await failure { try await call() } == .serverResponseLost)
        }
        #expect(try await management.roles(in: .development).assignments.map(\.role) == ["Editor"])
        #expect(try await ann.container.serverKeys().count == 3)
    }

    private func operatorToken(_ server: ServerProcess) throws -> ManagementToken {
        let file = server.folder.appendingPathComponent("data.secrets/management.token")
        return try ManagementToken(try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .newlines))
    }

    @Test func anUploadStartsOverAndADownloadGoesOn() async throws {
        let folder = try TemporaryFolder()
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = folder.url.appendingPathComponent("original")
        try pattern(300_000).write(to: file)
        var note = ann.note(in: zone, "x")
        note["file"] = Asset(fileURL: file)
        let (away, network, _) = try lossy(ann, "/assets/", [.answer, .request])
        note = try await away.own.save(note)
        let uploads = network.calls.filter { $0.contains("/assets/") }
        #expect(uploads.count == 3, "each upload has a blob of its own")
        #expect(Set(uploads).count == 3, "each upload has a blob of its own")
        network.lose([.request, .request])
        let asset: Asset? = try await away.own.record(for: note.recordID)["file"]
        #expect(try Data(contentsOf: try #require(asset?.fileURL)) == pattern(300_000))
    }

    /// A transfer that breaks in the middle: the rest is fetched, not all of it.
    @Test func aBrokenDownloadIsResumedWhereItBroke() async throws {
        let folder = try TemporaryFolder()
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = folder.url.appendingPathComponent("original")
        try pattern(1_000_000).write(to: file)
        var note = ann.note(in: zone, "x")
        note["file"] = Asset(fileURL: file)
        note = try await ann.own.save(note)
        let network = BreakingTransport(try HTTPTransport(server: ann.server.origin), every: 150_000)
        let away = try ann.through(network, pacing: FakePacing().pacing)
        let database = away.own
        let found: Asset? = try await database.configuredWith(
            configuration: OperationConfiguration(qualityOfService: .utility)
        ) {
            try await $0.record(for: note.recordID)["file"]
        }
        #expect(try Data(contentsOf: try #require(found?.fileURL)) == pattern(1_000_000))
        #expect(network.starts.count > 3)
        #expect(network.starts == network.starts.sorted())
    }

    // MARK: Outcomes

    @Test func aChangeWhoseAnswerCannotBeHadIsReportedAsUnknown() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = ann.note(in: zone, "stored", name: "note")
        let (away, network, _) = try lossy(ann, "records/modify", [.answer] + Array(repeating: .request, count: 20))
        #expect(await failure { try await away.own.save(note) } == .serverResponseLost)
        // It was stored; a new attempt says so, with what to go on from.
        do {
            network.lose([])
            try await away.own.save(note)
            Issue.record("a new record was stored over another")
        } catch {
            #expect(error.code == .serverRecordChanged)
            #expect(error.serverRecord?.encryptedValues["body"] == "stored")
        }
    }

    @Test func aChangeThatCertainlyDidNotArriveIsAFailureOfTheNetwork() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (away, network, pacing) = try lossy(ann, "records/modify", Array(repeating: .request, count: 20))
        #expect(await failure { try await away.own.save(ann.note(in: zone, "x")) } == .networkFailure)
        #expect(network.bodies.count == 4, "somebody waits: a second, and no more")
        #expect(pacing.sleeps == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
    }
}

/// Downloads break after so many bytes.
final class BreakingTransport: PassingTransport {
    let next: any Transport
    private let size: Int
    private let begun = LockedValue<[UInt64]>([])
    /// Where each download of the content began.
    var starts: [UInt64] { begun.value }

    init(_ next: HTTPTransport, every size: Int) {
        self.next = next
        self.size = size
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        // The leaves come first, and are short.
        if range.count > 10_000 { begun.change { $0.append(range.lowerBound) } }
        var left = size
        try await next.download(path, range: range, token: token) { part in
            guard left > 0 else { throw SealKitError(.serverResponseLost, "the test broke the connection") }
            var part = part
            let piece = part.readSlice(length: min(left, part.readableBytes)) ?? ByteBuffer()
            left -= piece.readableBytes
            try await consume(piece)
            guard part.readableBytes == 0 else {
                throw SealKitError(.serverResponseLost, "the test broke the connection")
            }
        }
    }
}
