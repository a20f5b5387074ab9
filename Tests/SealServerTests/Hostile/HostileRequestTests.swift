import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealEnvelope
import SealPrimitives
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Requests in odd clothes.
@Suite(.timeLimit(.minutes(60))) struct HostileRequestTests {
    /// The limit of a request's records is about what they hold, not about how that is written.
    @Test func twoMegabytesAreTwoMegabytesInEverySpelling() async throws {
        try await RunningServer.withZone { anna, zone, server in
            // Zeros in JSON's base64 take a third more; in either spelling it is the same number of bytes.
            for (bytes, code) in [(520_000, nil), (530_000, ErrorCode.limitExceeded)] {
                let writes = (0..<4).map { index in
                    var write = Write("r\(bytes)-\(index)", nil)
                    write.fields = [("data", .plain(.data([UInt8](repeating: 0, count: bytes))))]
                    return write
                }
                for isJSON in [false, true] {
                    let request = try anna.request(
                        writes.map { write in
                            var write = write
                            write.name += isJSON ? "j" : "p"
                            return write
                        }, in: zone
                    ).request
                    let body: [UInt8] = try isJSON ? request.jsonUTF8Bytes() : request.serializedBytes()
                    let answer = try await RefusalClient(origin: server.origin, token: anna.client.token).send(
                        "POST", anna.path("records/modify"), type: isJSON ? RefusalClient.json : RefusalClient.protobuf,
                        bytes: body)
                    #expect(answer.status == (code == nil ? 200 : UInt(ErrorCode.limitExceeded.httpStatus)))
                    #expect(code == nil || answer.code == code)
                }
            }
        }
    }

    /// A compressed body is not unpacked: it is no message.
    @Test func compressedBodiesAreNotUnpacked() async throws {
        try await RunningServer.withZone { anna, zone, server in
            // gzip of 1,000 zeros.
            let packed: [UInt8] = [
                0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0x63, 0x60, 0x18, 0x05, 0xA3, 0x60, 0, 0, 0x79, 0xF2, 0x89, 0x37,
                0xE8, 3, 0, 0,
            ]
            for encoding in ["gzip", "deflate", "br", "identity"] {
                var request = HTTPClientRequest(url: server.origin + anna.path("records/modify"))
                request.method = .POST
                request.headers.add(name: "Content-Type", value: RefusalClient.protobuf)
                request.headers.add(name: "Content-Encoding", value: encoding)
                request.headers.add(name: "Authorization", value: "Bearer \(anna.client.token)")
                request.body = .bytes(ByteBuffer(bytes: packed))
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
                let failure = try Sealkit_V1_Failure(
                    serializedBytes: Data(buffer: try await response.body.collect(upTo: 1 << 16)))
                #expect(response.status == .badRequest, "\(encoding)")
                #expect(failure.errorCode == .invalidArguments, "\(encoding)")
            }
            #expect(try await anna.changes(in: zone).records.isEmpty)
        }
    }

    /// What development gives out is nothing in production, whatever it is.
    @Test func nothingOfOneEnvironmentIsGoodInTheOther() async throws {
        try await RunningServer.withZone { anna, zone, server in
            try await server.deploy(
                try await server.schema().schema.adding(types: [
                    "Note": ["body": .init(ValueType(.string), isEncrypted: true), "pinned": .init(ValueType(.int64))]
                ]))
            let production = anna.inProduction
            let there = try await production.makeZone()
            _ = try await anna.save([Write("a")], in: zone)
            _ = try await production.save([Write("b")], in: there)
            // Tokens of zones of one name, and of the databases.
            let tokens = (try await anna.changes(in: zone).token, try await anna.zoneChanges().token)
            let ofZone = try await refusal { try await production.changes(in: there, since: tokens.0) }
            let ofDatabase = try await refusal { try await production.zoneChanges(tokens.1) }
            #expect(ofZone == .changeTokenExpired)
            #expect(ofDatabase == .changeTokenExpired)
            #expect(try await production.changes(in: there).records.map(\.recordName) == ["b"])
            // What was signed for one is nothing in the other.
            let (request, _) = try anna.request([Write("c")], in: zone)
            let code = try await refusal {
                let results = try await production.send(request, to: there)
                if let code = results[0].code {
                    throw Refusal(status: 0, failure: .init(code, "refused", remedy: "none"))
                }
                return results
            }
            #expect(code == .integrityFailure || code == .invalidArguments || code == .staleEpoch)
            // Subscriptions and streams.
            try await anna.subscribe(.database("dev"))
            let events = try await anna.onAnotherDevice().listen()
            _ = try await production.save([Write("d")], in: there)
            _ = try await anna.save([Write("e")], in: zone)
            let told = try await events.notification()
            #expect(told.environment == "development")
            #expect(told.subscriptionID == "dev")
            let sealed = try await anna.lookup(["b", "d", "e"], in: zone).results.map(\.code)
            #expect(sealed == [.unknownItem, .unknownItem, nil])
        }
    }
}
