import Foundation
import SealKitTesting
import SealLab
import Testing

@testable import SealKit

/// What stands before a server, or at its address, answers in its place: a redirect, a page, or nothing. An empty body
/// is a whole message of nothing, and says yes to everything that has no other answer.
@Suite(.timeLimit(.minutes(60))) struct ForeignAnswerTests {
    private static let answers = [
        TransportResponse(status: 302, body: Data()),
        TransportResponse(status: 308, body: Data(), contentType: HTTPTransport.contentType),
        TransportResponse(status: 204, body: Data()),
        TransportResponse(status: 200, body: Data()),
        TransportResponse(status: 200, body: Data(), contentType: "text/html; charset=utf-8"),
        // A message by its bytes alone: a field that nobody knows.
        TransportResponse(status: 200, body: Data([0x7A, 0]), contentType: "text/plain"),
    ]

    @Test func noAccountIsDeletedByIt() async throws {
        let ann = try await Person()
        let network = try HostileNetwork(ann.server)
        let store = MemoryKeyStore(try ann.account.secrets)
        let device = try #require(try await Account.load(from: store, transport: network, pacing: .real))
        for answer in Self.answers {
            network.answer("accounts/delete", answer)
            await expectRefused(.serverRejectedRequest, "\(answer)") { try await device.delete() }
            network.beHonest()
            #expect(try await store.load() != nil, "\(answer)")
        }
        #expect(try await ann.account.status() == .available)
        try await device.delete()
        #expect(try await store.load() == nil)
    }

    /// A server's own answer may have no bytes either.
    @Test func aMessageWithoutBytesIsOneByItsType() throws {
        for type in ["application/x-protobuf", "application/protobuf", "Application/X-Protobuf; charset=utf-8"] {
            try TransportResponse(status: 200, body: Data(), contentType: type).require(.message)
        }
    }

    @Test func nothingOfAnAccountIsTakenForDone() async throws {
        let (device, network) = try await Person().behindAttacker()
        for answer in Self.answers {
            network.answer("accounts/recovery", answer)
            await expectRefused(.serverRejectedRequest, "\(answer)") { try await device.account.renewRecoveryKey() }
            network.beHonest()
            network.answer("accounts/create", answer)
            await expectRefused(.serverRejectedRequest, "\(answer)") {
                _ = try await Account.create(transport: network)
            }
            network.beHonest()
            network.answer("accounts/me", answer)
            #expect(try await device.account.status() == .couldNotDetermine, "\(answer)")
            network.beHonest()
        }
        #expect(try await device.account.status() == .available)
    }

    @Test func nobodyIsRemovedByIt() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let (device, network) = try ann.behindAttacker()
        for answer in Self.answers {
            network.answer("rosters/append", answer)
            await expectRefused(.serverRejectedRequest, "\(answer)") {
                try await device.edit(zone.zoneID) { $0.removeParticipant(try #require($0.participant(bob))) }
            }
            network.beHonest()
        }
        _ = try await bob.shared.recordZone(for: zone.id(for: bob))
        try await device.edit(zone.zoneID) { $0.removeParticipant(try #require($0.participant(bob))) }
        #expect(await failure { _ = try await bob.shared.recordZone(for: zone.id(for: bob)) } == .zoneNotFound)
        #expect(try await device.container.audit().violations.isEmpty)
    }

    @Test func noAssetIsStoredByIt() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (device, network) = try ann.behindAttacker()
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("picture")
        try Data("a picture".utf8).write(to: file)
        for answer in Self.answers {
            network.lie { path, _, response in if path.contains("/assets/") { response = answer } }
            var record = ann.note(in: zone, "with a picture")
            record["picture"] = Asset(fileURL: file)
            let draft = record
            await expectRefused(.serverRejectedRequest, "\(answer)") { _ = try await device.own.save(draft) }
            network.beHonest()
        }
    }

    @Test func aRedirectIsToldWithWhatToDo() async throws {
        let former = try SilentServer(
            saying: "HTTP/1.1 302 Found\r\nLocation: https://notes.example.org/\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n")
        let astray = try await Person().through(try HTTPTransport(server: former.origin))
        let error = await expectRefused(.serverRejectedRequest) { _ = try await astray.own.allRecordZones() }
        #expect(error?.reason.contains("302") == true)
        #expect(error?.remedy.contains("move(in:to:trust:)") == true)
    }

    @Test func pagesAreNoAnswersStreamsOrAssets() async throws {
        for head in ["200 OK\r\nContent-Type: text/html", "200 OK", "204 No Content"] {
            let other = try SilentServer(
                saying: "HTTP/1.1 \(head)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            let astray = try await Person().through(try HTTPTransport(server: other.origin))
            await expectRefused(.serverRejectedRequest, "\(head)") { _ = try await astray.own.allRecordZones() }
        }
        let portal = try SilentServer(
            saying: "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        let transport = try HTTPTransport(server: portal.origin)
        await expectRefused(.serverRejectedRequest) {
            try await transport.download("/", range: 0..<2, token: "t") { _ in Issue.record("a page is no asset") }
        }
        await expectRefused(.serverRejectedRequest) {
            try await transport.events("/", token: "t", lastEventID: nil) { _ in Issue.record("a page is no stream") }
        }
    }
}

extension HostileNetwork {
    /// In the place of the server, which hears nothing of what is posted.
    fileprivate func answer(_ suffix: String, _ answer: TransportResponse) {
        swallow(suffix)
        lie { path, _, response in if path.hasSuffix(suffix) { response = answer } }
    }
}
