import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// What an audit finds, and what its exit code says.
extension AuditTests {
    @Test func aZoneThatTheServerLeavesOutIsAskedFor() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let deceived = try hostile(ann) { path, body in
            if path.hasSuffix("zones/lookup") { return Data() }
            guard path.hasSuffix("rosters/fetch") else { return body }
            return try Sealkit_V1_FetchRostersResponse.with {
                $0.rosters = [.with { $0.failure = Sealkit_V1_Failure(.zoneNotFound, "gone") }]
            }.serializedData()
        }
        let audit = try await deceived.container.audit()
        #expect(audit.outcome == .violated)
        #expect(audit.failures.map(\.zoneID) == [zone])
        #expect(audit.failures.map(\.error.code) == [.rollback])
        #expect(audit.violations.map(\.code) == [.rollback])
    }

    /// Though its roster is given out, and so nothing else is missing of it.
    @Test func aZoneThatTheServerLeavesOutAndDoesNotAnswerForIsNamed() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let silent = try hostile(ann) { path, body in path.hasSuffix("zones/lookup") ? Data() : body }
        let audit = try await silent.container.audit()
        #expect(audit.outcome == .incomplete)
        #expect(audit.failures.map(\.zoneID) == [zone])
        #expect(audit.failures.map(\.error.code) == [.serverRejectedRequest])
    }

    @Test func aRosterThatIsCutShortOrForkedIsFound() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readOnly)])
        try await zone.view(of: ann)
        let short = try hostile(ann) { path, body in
            guard path.hasSuffix("rosters/fetch") else { return body }
            var answer = try Sealkit_V1_FetchRostersResponse(serializedBytes: body)
            if answer.rosters[0].entries.count > 1 { answer.rosters[0].entries.removeLast() }
            return try answer.serializedData()
        }
        let audit = try await short.container.audit()
        #expect(audit.outcome == .violated)
        #expect(audit.failures.map(\.error.code) == [.rollback])
    }

    @Test func aGrantThatDoesNotOpenIsFound() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readWrite)])
        try await zone.changeKeys(of: carol)
        // Bob, who may open the key that is due, gives Ann something that opens nothing.
        let core = bob.container.core
        let view = try await zone.view(of: bob)
        var random = SystemRandom()
        let good = try core.author.next(
            on: view.roster, changes: [], rotating: true, current: view.currentKey(), time: 1, random: &random)
        let garbage = random.bytes(1200)
        let grants = good.grants.map { grant in
            (grant.subject, grant.subject == .member(ann.container.core.userID()) ? garbage : grant.sealed)
        }
        let opened = try RosterEntry(canonicalBytes: good.entry.bytes, container: core.identifier)
        var epoch = try #require(opened.epoch)
        epoch = EpochOpening(
            number: epoch.number, keyID: epoch.keyID, checkpoint: Checkpoint.none, previousKey: epoch.previousKey,
            coverage: grants.map { .init(subject: $0, grantHash: GrantHash.of($1)) }.sorted { $0.subject < $1.subject })
        let bytes = RosterEntry(
            scopeID: opened.scopeID, sequence: opened.sequence, previous: opened.previous, author: opened.author,
            time: opened.time,
            changes: [], epoch: epoch
        ).canonicalBytes()
        let entry = SignedRosterEntry(
            bytes: bytes, signature: core.identity().keys.signingKey.sign(RosterEntry.signedBytes(bytes)))
        let request = Sealkit_V1_AppendRosterRequest.with {
            $0.operationID = newOperationID()
            $0.zone = view.scope.zoneIDOnWire
            $0.entry = entry.wire
            $0.grants = grants.map { Sealkit_V1_Grant(subject: $0, epoch: epoch.number, sealed: $1) }
        }
        let _: Sealkit_V1_AppendRosterResponse = try await core.call(.shared, Endpoints.sharing.appendRoster, request)

        let audit = try await ann.container.audit()
        let scope = try #require(audit.scopes.first)
        #expect(audit.outcome == .violated && scope.badGrants == [1] && scope.heldEpochs == 1)
        // The owner mends it with another one; the bad grant stays on the record.
        try await ann.own.rotateKeys(of: zone.zoneID)
        let mended = try #require(try await ann.container.audit().scopes.first)
        #expect(mended.badGrants == [1])
        #expect(mended.heldEpochs == 2)
        #expect(mended.keys.newestEpoch == 2)
    }

    @Test func whatCannotBeCheckedIsSaid() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let away = try hostile(ann) { path, body in
            guard path.hasSuffix("records/stale") else { return body }
            return try Sealkit_V1_StaleRecordsResponse(serializedBytes: body).serializedData() + Data([0xFF])
        }
        let audit = try await away.container.audit()
        #expect(audit.outcome == .incomplete)
        #expect(audit.failures.map(\.zoneID) == [zone])
        let signedOut = try Container("org.example.notes", accounts: AccountProvider())
        #expect(await failure { _ = try await signedOut.audit() } == .notAuthenticated)
        #expect(await failure { _ = try await signedOut.violations() } == .notAuthenticated)
        #expect(await failure { _ = try await signedOut.contacts.all() } == .notAuthenticated)
    }

    @Test func theCommandLinesExitCodeTellsScripts() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await Person(server)
        let file = temporary.url.appendingPathComponent("ann.json")
        try KeyFile.write(ann.account, to: file, passphrase: nil)
        let zone = try await ann.makeZone("Notes")
        func run(_ arguments: String...) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable,
                arguments + ["--key-file", file.path, "--container", ann.container.containerIdentifier])
        }
        let clean = try await run("audit")
        #expect(clean.status == 0, "\(clean)")
        #expect(clean.output.hasSuffix("clean\n"), "\(clean)")
        #expect(clean.output.contains("roster  1 entry"), "\(clean)")
        let trust = try TrustStore(file: URL(fileURLWithPath: file.path + ".trust"))
        let core = try Container(ann.container.containerIdentifier, account: ann.account, trust: trust).core
        _ = await core.noted(SealKitError(.rollback, "something \u{1B}[2J older"), zone: zone, record: "note")
        let json = try await run("audit", "--json")
        #expect(json.status == 76)
        #expect(json.output.contains("\"outcome\":\"violated\""))
        #expect(json.output.contains("\"record\":\"note\""))
        let text = try await run("audit", "--forget")
        #expect(text.status == 76)
        #expect(!text.output.contains("\u{1B}"))
        #expect(text.output.contains("older"))
        #expect(try await run("audit", "--quiet").output == "clean\n")
        server.kill()
        let away = try await run("audit")
        #expect(away.status == 69, "\(away)")
    }
}
