import Foundation
import NIOCore
import SealKitTesting
import SealLab
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Attacks on what all share: memory, places, and mail.
@Suite(.timeLimit(.minutes(60))) struct LoadAttacks {
    @Test(
        "Somebody asks again and again for codes to an address, or with a share's URL: its owner and invitees still get theirs."
    )
    func attack80_codesUsedUp() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await LinkAttacks.Placeholder(server)
        let mallory = try await Person(server)
        let tagged = place.mail.replacingOccurrences(of: "@", with: "+x@")
        for _ in 0..<3 { _ = try await mallory.container.beginVerification(of: tagged, for: place.url) }
        for number in 0..<7 {
            _ = try await mallory.container.beginVerification(of: "mallory-\(number)@example.org", for: place.url)
        }
        for address in [place.mail, "mallory@example.org"] {
            let asking = try mallory.through(HTTPTransport(server: server.origin), pacing: FakePacing().pacing)
            await expectRefused(.requestRateLimited) {
                _ = try await asking.container.beginVerification(of: address, for: place.url)
            }
        }
        let carol = try await Person(server)
        // The address is proven before the server shows what the URL leads to.
        let token = try await place.token(carol)
        let joined = try await carol.container.accept(
            try await carol.container.shareMetadata(for: place.url), token: token)
        #expect(try await carol.body(of: Record.ID(recordName: "note", zoneID: joined)) == "for the invited")
    }

    @Test("Many bodies that announce much and hardly come, without an account: everybody else is served as ever.")
    func attack81_announcedBodies() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        var connections: [HTTPConnection] = []
        for (length, count) in [
            ("content-length: 4194304", 64), ("content-length: 262144", 64), ("transfer-encoding: chunked", 64),
        ] {
            for _ in 0..<count {
                let connection = try HTTPConnection(port: server.port)
                try connection.send(
                    Data(
                        "POST /1/accounts/challenge HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\n\(length)\r\n\r\n"
                            .utf8))
                try connection.send(Data((length.hasPrefix("t") ? "1\r\n\n\r\n" : "\n").utf8))
                connections.append(connection)
            }
        }
        let impatient = try ann.through(HTTPTransport(server: server.origin), pacing: FakePacing().pacing)
        for _ in 0..<10 {
            var note = ann.note(in: zone, String(repeating: "x", count: 500_000))
            note = try await impatient.own.save(note)
            #expect(try await impatient.own.record(for: note.recordID).recordID == note.recordID)
        }
        // Also others without one.
        _ = try await Person(server)
        AttackOutcome.held("what was announced takes no room")
        withExtendedLifetime(connections) {}
    }

    @Test(
        "Some megabytes of empty elements, sent to a server or answered to a client, are refused before anything is decoded."
    )
    func attack82_emptyElements() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.save(ann.note(in: zone, "x"))
        // Without an account there is less of it.
        let query = Sealkit_V1_QueryRecordsRequest.with {
            $0.query.recordType = "Note"
            $0.query.filterBy = [.with { $0.values = Array(repeating: .init(), count: 125_000) }]
        }
        let body = try query.serializedData()
        let connection = try HTTPConnection(port: ann.server.port)
        try connection.send(
            Data(
                """
                POST /database/1/org.example.notes/development/public/records/query HTTP/1.1\r
                host: x\r
                content-type: application/x-protobuf\r
                content-length: \(body.count)\r
                \r

                """.utf8) + body)
        let (status, answer) = try connection.receive()
        let failure = try Sealkit_V1_Failure(serializedBytes: answer)
        #expect(status == 413, "\(failure)")
        #expect(failure.errorCode == .limitExceeded, "\(failure)")
        #expect(failure.reason.contains("too many elements"), "\(failure)")
        let request = Sealkit_V1_ModifyRecordsRequest.with { $0.records = Array(repeating: .init(), count: 2_000_000) }
        let refusal = await expectRefused(.limitExceeded) {
            _ =
                try await ann.own.core.call(ann.own.scope, Endpoints.records.modify, request)
                as Sealkit_V1_ModifyRecordsResponse
        }
        #expect(refusal?.reason.contains("too many elements") == true)
        // A client.
        // As much as its length allows, but in more items than any page has.
        let padded = ServerFault.rewriting(nil, "records/changes", Sealkit_V1_RecordChangesResponse.self) { _, answer in
            answer.records = Array(repeating: .init(), count: 10_000)
            answer.token = Data(count: 1 << 20)
        }
        for lie in [.floodedFeed(of: zone), padded] {
            let (deceived, network) = try ann.behindAttacker()
            network.inject(lie)
            await expectRefused(.serverRejectedRequest) {
                _ = try await deceived.own.recordZoneChanges(inZoneWith: zone)
            }
        }
        #expect(try await ann.own.recordZoneChanges(inZoneWith: zone).modifications.count == 1)
    }
}
