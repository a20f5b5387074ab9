import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What an account that the operator has suspended can do, and what those can who share with it.
@Suite(.timeLimit(.minutes(60))) struct SuspensionTests {
    @Test("An account that the operator suspended goes on with what it has open, or begins anew: refused, at once.")
    func attack96_whatASuspendedAccountHasOpen() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let key = try await ServerKeyClient.ready(by: anna)
            let first = try await key.save([PublicWrite("p")])
            #expect(first.map(\.result.code) == [nil])
            let boss = try OperatorClient(server)
            let events = try await anna.listen()
            let upload = UploadTests.Upload(anna, zone, bytes: 300_000)
            try await upload.begin()
            let bytes = try upload.body(0)
            let (parts, continuation) = AsyncStream<ByteBuffer>.makeStream()
            async let answer = upload.put(0, .stream(parts, length: .known(Int64(bytes.count))))
            continuation.yield(ByteBuffer(bytes: bytes[..<100_000]))
            try await waitUntil("the upload has come") { server.services.transfers.count > 0 }

            let suspended = try await boss.suspend(anna.name, reason: "Rechnung 4711 – überfällig")
            #expect(suspended.suspension.since == server.clock.now)
            continuation.yield(ByteBuffer(bytes: bytes[100_000...]))
            let sent = try await answer
            continuation.finish()
            #expect(sent.code == .sessionExpired)
            let end = try await events.next()
            #expect(end.name == "end")
            #expect(try end.failure.errorCode == .sessionExpired)
            #expect(try await events.hasEnded())
            try await expectRefusal(.sessionExpired) { try await anna.client.me() }
            try await expectRefusal(.sessionExpired) { try await anna.save([Write("a")], in: zone) }
            // Nothing makes it another session, on this device or a new one.
            for client in [anna.client, anna.client.onAnotherDevice()] {
                do {
                    _ = try await client.login()
                    Issue.record("a suspended account logged in")
                } catch let refusal as Refusal {
                    #expect(refusal.status == 403)
                    #expect(refusal.code == .accountSuspended)
                    #expect(refusal.failure.reason.contains("Rechnung 4711 – überfällig"))
                    #expect(!refusal.failure.remedy.isEmpty)
                }
                try await expectRefusal(.accountSuspended) { try await client.create() }
            }
            try await expectRefusal(.accountSuspended) { try await Self.rotate(anna.client) }
            try await expectRefusal(.accountSuspended) { try await Self.delete(anna.client) }
            let read = Sealkit_V1_LookupRecordsRequest.with { $0.recordNames = ["p"] }
            #expect(
                try await key.send(try key.call(Person.publicPath("records/lookup"), read)).code == .accountSuspended)
            do {
                _ = try await key.save([PublicWrite("q")])
                Issue.record("a suspended account's key saved")
            } catch let refusal as Refusal {
                #expect(refusal.code == .accountSuspended)
            }
            // Who does not hold the key is not told.
            let forged = try key.call(Person.publicPath("records/lookup"), read)
            let headers = try key.headers(forged, signer: anna.keys.signingKey)
            #expect(try await key.send(forged, headers: headers).code == .notAuthenticated)
            let login = try await anna.client.loginRequest(signer: anna.keys.signingKey)
            try await expectRefusal(.notAuthenticated) { try await anna.client.login(login) }
            AttackOutcome.refused("accountSuspended")
        }
    }

    @Test func itsSharesGoOnForThoseInThem() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let (anna, bert, carol) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            var zone = try await anna.makeSharedZone()
            _ = try await anna.save([Write("a")], in: zone)
            try await anna.share(&zone, with: bert)
            let invitation = try anna.invitation(to: carol, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            let events = try await bert.listen()
            try await OperatorClient(server).suspend(anna.name)
            // Its members read, write and are told of changes; who was invited joins.
            let record = try await bert.lookup(["a"], in: zone).results[0].record
            _ = try bert.open(record, in: zone)
            #expect(try await bert.codes([Write(after: try SavedRecord(record)), Write("b")], in: zone) == [nil, nil])
            #expect(try await bert.changes(in: zone).records.count == 2)
            #expect(try await bert.zones(shared: true).map(\.zoneID.ownerName) == [anna.name])
            try await carol.accept(invitation, in: &zone)
            let joined = zone
            #expect(try await carol.lookup(["b"], in: joined).results[0].record.recordName == "b")
            _ = try await bert.client.me()
            events.close()
        }
    }

    /// Of both, until the suspension is undone: then what they have missed goes out.
    @Test func itsWebhooksWaitAndSoDoThoseOfItsKeys() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin], hasOperator: true) { server in
                let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
                let key = try await ServerKeyClient.ready(by: anna)
                func hook(_ name: String) -> Sealkit_V1_Subscription {
                    var subscription = Sealkit_V1_Subscription.query(name)
                    subscription.webhook = receiver.origin + "/" + name
                    return subscription
                }
                for (person, name) in [(anna, "anna"), (bert, "bert")] {
                    try await person.subscribe(hook(name), in: "public")
                }
                let request = Sealkit_V1_ModifySubscriptionsRequest.with {
                    ($0.operationID, $0.saves) = (Data(randomBytes(16)), [hook("key")])
                }
                let answer = try await key.send(try key.call(Person.publicPath("subscriptions/modify"), request))
                #expect(answer.code == nil)
                let boss = try OperatorClient(server)
                try await boss.suspend(anna.name)
                _ = try await bert.savePublic([PublicWrite("a")])
                #expect(try await receiver.delivery(1).path == "/bert")
                _ = try await bert.savePublic([PublicWrite("b")])
                #expect(try await receiver.delivery(2).path == "/bert")
                try await waitUntil("nothing more is sent") { server.services.jobs.areIdle }
                #expect(receiver.count == 2)
                // Longer than a receiver is waited for: what waited is not given up.
                server.clock.advance(seconds: 3 * 86_400)
                receiver.answer([.badGateway])
                for _ in 0..<2 { try await boss.unsuspend(anna.name) }
                let first = Set([try await receiver.delivery(3).path, try await receiver.delivery(4).path])
                #expect(first == ["/anna", "/key"])
                // When it is tried again goes by when the answer was read.
                try await waitUntil("both answers are read") { server.services.jobs.areIdle }
                server.clock.advance(seconds: 10)
                try await server.services.jobs.run(.webhooks)
                let again = try await receiver.delivery(5)
                #expect(try again.message.notifications.map(\.recordName) == ["a", "b"])
            }
        }
    }

    @Test func itIsUndoneAndEachMayBeDoneTwice() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([Write("a")], in: zone)
            let key = try await ServerKeyClient.ready(by: anna)
            let boss = try OperatorClient(server)
            #expect(try await !boss.unsuspend(anna.name).hasSuspension)
            let first = try await boss.suspend(anna.name, reason: "first").suspension
            server.clock.advance(seconds: 5)
            #expect(try await boss.suspend(anna.name).suspension == first)
            let second = try await boss.suspend(anna.name, reason: "second").suspension
            #expect(second.reason == "second")
            #expect(second.since == first.since)
            #expect(try await boss.usage().suspended == 1)
            let listed = try await boss.accounts(suspendedOnly: true).accounts.map(\.account)
            #expect(listed == [try await boss.usage(anna.name).account.account])
            // Nobody else is.
            _ = try await bert.client.me()
            _ = try await bert.client.login()
            for _ in 0..<2 { #expect(try await !boss.unsuspend(anna.name).hasSuspension) }
            var again = anna
            again.client.token = try await anna.client.login().token
            let back = again
            #expect(try await back.lookup(["a"], in: zone).results[0].record.recordName == "a")
            _ = try await back.save([Write("b")], in: zone)
            _ = try await key.save([PublicWrite("p")])
            // The sessions of before stay ended.
            try await expectRefusal(.sessionExpired) { try await anna.client.me() }
            for reason in [
                String(repeating: "é", count: 128), "two\nlines", "\u{1B}[31mred", "\u{202E}back", "zero\0",
            ] {
                try await expectRefusal(.invalidArguments) { try await boss.suspend(anna.name, reason: reason) }
            }
            #expect(try await boss.usage().suspended == 0)
        }
    }

    /// The server starts anew: what was said stays.
    @Test func itOutlivesTheServer() async throws {
        let folder = TemporaryFolder()
        let state = SuspendedOne()
        try await RunningServer.with(folder: folder, hasOperator: true) { server in
            let anna = try await Person.ready(server)
            try await OperatorClient(server).suspend(anna.name, reason: "why")
            state.person = anna
        }
        try await RunningServer.with(folder: folder, hasOperator: true) { server in
            let anna = try #require(state.person).at(server)
            try await expectRefusal(.accountSuspended) { try await anna.client.login() }
            #expect(try await OperatorClient(server).usage(anna.name).account.suspension.reason == "why")
            try await OperatorClient(server).unsuspend(anna.name)
            _ = try await anna.client.login()
        }
    }

    /// Set in one server's test, read in the next one's.
    private final class SuspendedOne: @unchecked Sendable {
        // Unchecked: the two servers run one after the other.
        var person: Person?
    }

    private static func rotate(_ client: TestClient) async throws {
        let next = try TestClient(client.server)
        let signed = Challenges.loginRotation(origin: client.server.origin, newKey: next.loginKey.verificationKey)
        var request = Sealkit_V1_RotateKeysRequest()
        request.formerLoginKey = Data(client.loginKey.verificationKey.bytes)
        request.login = try await next.loginRequest()
        request.formerSignature = Data(client.loginKey.sign(signed))
        _ = try await client.call("/1/accounts/rotate", request, as: Sealkit_V1_SessionResponse.self, token: "")
    }

    private static func delete(_ client: TestClient) async throws {
        let challenge = try await client.challenge()
        let time = client.server.clock.now
        let signed = Challenges.deletion(origin: client.server.origin, challenge: challenge, time: time)
        _ = try await client.call(
            "/1/accounts/delete",
            Sealkit_V1_DeleteAccountRequest.with {
                $0.loginKey = Data(client.loginKey.verificationKey.bytes)
                $0.challenge = Data(challenge)
                $0.time = time
                $0.signature = Data(client.loginKey.sign(signed))
            }, as: Sealkit_V1_DeleteAccountResponse.self)
    }
}
