import Foundation
import NIOHTTP1
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// Limits.md, `/1/limits` and what the server does are one and the same.
@Suite(.timeLimit(.minutes(60))) struct LimitTableTests {
    struct Row: Equatable {
        let name: String
        let value: UInt64
        let unit: String
        let code: String
    }

    private static func source(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("Sources/" + path), encoding: .utf8)
    }

    /// The rows of all tables in the article.
    static func documented() throws -> [Row] {
        let text = try source("SealKit/Documentation.docc/Limits.md")
        return try text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces).replacingOccurrences(of: "`", with: "")
            }
            return Row(
                name: cells[1], value: try #require(UInt64(cells[2]), "\(line)"), unit: cells[3],
                code: cells[4] == "–" ? "" : cells[4])
        }
    }

    @Test func theServerSaysWhatTheArticleSays() async throws {
        let rows = try Self.documented()
        #expect(rows.count > 25)
        #expect(Set(rows.map(\.name)).count == rows.count)
        try await RunningServer.with { server in
            let client = RefusalClient(origin: server.origin)
            let json = try await client.send("GET", "/1/limits")
            let answer = try Sealkit_V1_LimitsResponse(jsonUTF8Bytes: json.body)
            #expect(json.status == 200)
            #expect(json.headers.first(name: "content-type") == RefusalClient.json)
            let served = answer.limits.map { Row(name: $0.name, value: $0.value, unit: $0.unit, code: $0.code) }
            // What is off by default is not served.
            let on = rows.filter { $0.value > 0 }
            #expect(served == on)
            let unknown = served.filter { !$0.code.isEmpty && ErrorCode(rawValue: $0.code) == nil }
            #expect(unknown.isEmpty)
            let binary = try await TestClient(server).call("/1/limits", nil, as: Sealkit_V1_LimitsResponse.self)
            #expect(binary == answer)
        }
        var limits = ServerLimits()
        (limits.storageQuota, limits.requestRate) = (12_345, 0)
        try await RunningServer.with(serverLimits: limits) { server in
            let answer = try await TestClient(server).call("/1/limits", nil, as: Sealkit_V1_LimitsResponse.self)
            #expect(answer.limits.first { $0.name == "storageBytes" }?.value == 12_345)
            #expect(!answer.limits.contains { $0.name == "requestRate" })
        }
    }

    /// A number that is added to these without a row in the table fails here; those without one say why.
    @Test func everyConstantIsInTheTable() throws {
        let table = try Self.source("SealServer/Limits/LimitTable.swift")
        let lists: [(file: String, type: String, others: [String: String])] = [
            (
                "SealService/Push/PushLimits.swift", "PushLimits",
                ["stringCharacters": "cuts, and says so in the notification", "page": "how much is read at once"]
            ),
            ("SealSchema/SchemaLimits.swift", "SchemaLimits", [:]),
            (
                "SealQuery/Query.swift", "Query.Limits",
                [
                    "textBytes": "of the SDK's parser", "depth": "of the SDK's parser",
                    "keyBytes": "how much an index holds: longer values are found all the same",
                ]
            ),
            (
                "SealStatements/Limits.swift", "Limits",
                Dictionary(
                    uniqueKeysWithValues: [
                        "blockedPerScope", "changesPerEntry", "rosterEntryBytes", "identityBytes",
                        "identityGenerations",
                        "grantBytes", "sealedAddressBytes", "sealedAddressesPerInvitation", "takenRecords",
                        "enrolledHeads", "revision", "assetChunkBytes", "assetChunks", "assetPartChunks",
                    ].map { ($0, "of the protocol's encodings (PROTOCOL.md): no client that follows it sends more") })
            ),
        ]
        for (file, type, others) in lists {
            let text = try Self.source(file)
            let names = text.matches(of: /static let (\w+)(?:: \w+)? = [0-9(]/).map { String($0.1) }
            #expect(names.count >= 3, "\(file)")
            for name in names {
                let places = [" ", "("].flatMap { before in [",", " ", ")"].map { "\(before)\(type).\(name)\($0)" } }
                let isListed = places.contains { table.contains($0) }
                #expect(isListed != (others[name] != nil), "\(type).\(name)")
            }
            #expect(Set(others.keys).isSubset(of: names), "\(file)")
        }
    }

    @Test func everyRowHasAProbe() throws {
        let documented = try Self.documented().map(\.name)
        #expect(Set(documented) == Set(LimitProbe.all.map(\.name)))
    }

    /// One below the limit and the limit itself are taken, one more is refused as the table says.
    @Test(arguments: LimitProbe.all) func eachLimitIsWhereTheTableSays(probe: LimitProbe) async throws {
        let named = try Self.documented().first { $0.name == probe.name }
        let row = try #require(named)
        // Smaller where the operator or a test may choose.
        let limit = probe.limit ?? Int(row.value)
        let expected = row.code.isEmpty ? ErrorCode.sessionExpired : try #require(ErrorCode(rawValue: row.code))
        var rules = AbuseLimits(probe.serverLimits)
        probe.rules(&rules)
        try await RunningServer.with(
            limits: rules, behindProxy: true, sendsTexts: true, serverLimits: probe.serverLimits,
            maximumAssetSize: probe.maximumAssetSize
        ) { server in
            for (amount, code) in [(limit - 1, nil), (limit, nil), (limit + 1, expected)] as [(Int, ErrorCode?)] {
                let outcome = try await probe.run(server, amount)
                #expect(outcome == code, "\(probe.name): \(amount)")
            }
        }
    }
}
