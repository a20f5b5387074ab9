import Foundation
import SealPrimitives
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// What each route refuses of a message that is well formed: wrong sizes, names, numbers and counts.
extension RefusalTableTests {
    struct Content: Sendable, CustomStringConvertible {
        let path: String
        /// Written as JSON; sent in both encodings.
        let json: String
        let status: UInt
        let code: ErrorCode

        var description: String { "\(path) \(json.prefix(100))" }

        init(_ path: String, _ json: String, _ code: ErrorCode, status: UInt? = nil) {
            (self.path, self.json, self.code) = (path, json, code)
            self.status = status ?? UInt(code.httpStatus)
        }
    }

    /// Base64 of so many bytes.
    static func bytes(_ count: Int) -> String { "\"\(Data(repeating: 7, count: count).base64EncodedString())\"" }

    static func many(_ count: Int, _ item: (Int) -> String) -> String {
        "[\((0..<count).map(item).joined(separator: ","))]"
    }

    static let id = bytes(16)
    static let long = String(repeating: "x", count: 256)
    /// No zone or record has such a name.
    static let badNames = ["", long, #"a\u0000b"#, #"a\nb"#, #"\u007f"#, "ü", "名", #"\ud83d\ude00"#, #"e\u0301"#]

    static let contents: [Content] = accounts + devices + people + rosters + zones + records + management

    private static let people: [Content] = {
        var all: [Content] = []
        all += ["", "a b", long].map { Content("/1/directory/lookup", "{\"container\":\"\($0)\"}", .badContainer) }
        // Handles have a failure of their own: see DirectoryTests.
        for path in ["/1/addresses/update", "/1/addresses/unlink"] {
            all += [
                "{}", #"{"address":""}"#, #"{"address":"a"}"#, #"{"address":"a@b"}"#,
                "{\"address\":\"\(long)@example.org\"}",
                #"{"address":"a@example.org\r\nBcc: b@example.org"}"#, #"{"address":"+49 30 1234567"}"#,
                "{\"id\":\(bytes(15))}",
                "{\"id\":\(bytes(17))}", "{\"id\":\(bytes(1_000_000))}",
            ].map { Content(path, "{\"address\":\($0)}", .invalidArguments) }
        }
        all += [
            Content(
                "/1/directory/lookup",
                "{\"container\":\"a\",\"handles\":\(many(101) { _ in #"{"email":"a@example.org"}"# })}", .limitExceeded),
            Content("/1/verification/begin", #"{"container":"","address":"a@example.org"}"#, .badContainer),
        ]
        all += [
            "", "a", #"a@example.org\r\nBcc: b@example.org"#, "\(long)@example.org", "a@[127.0.0.1]", "ü@example.org",
        ].map {
            Content("/1/verification/begin", "{\"container\":\"a\",\"address\":\"\($0)\"}", .invalidArguments)
        }
        all += [1, 15, 17].map {
            Content(
                "/1/verification/begin",
                "{\"container\":\"a\",\"address\":\"a@example.org\",\"routingId\":\(bytes($0))}",
                .invalidArguments)
        }
        all += [0, 15, 17, 1_000_000].map {
            Content("/1/verification/complete", "{\"verificationId\":\(bytes($0))}", .verificationFailed)
        }
        all += [
            Content(
                "/1/verification/complete",
                "{\"verificationId\":\(id),\"code\":\"\(String(repeating: "1", count: 100_000))\"}", .verificationFailed
            )
        ]
        return all
    }()

    private static let rosters: [Content] = {
        var all: [Content] = []
        all += [0, 15, 17, 1_000_000].flatMap { count -> [Content] in
            [
                Content("/1/share/place", "{\"routingId\":\(bytes(count))}", .unknownItem),
                Content("/1/share/metadata", "{\"routingId\":\(bytes(count))}", .unknownItem),
                Content("/1/share/newcomer", "{\"routingId\":\(bytes(count))}", .unknownItem),
                Content("/1/share/accept", "{\"operationId\":\(bytes(count))}", .invalidArguments),
                Content("rosters/append", "{\"operationId\":\(bytes(count))}", .invalidArguments),
            ]
        }
        all += [
            Content("/1/share/accept", "{\"operationId\":\(id),\"routingId\":\(bytes(15))}", .unknownItem),
            Content(
                "rosters/append", "{\"operationId\":\(id),\"entry\":{\"entry\":\(bytes(1_000))}}", .invalidArguments),
            Content(
                "rosters/append", "{\"operationId\":\(id),\"entry\":{\"entry\":\(bytes(1_048_577))}}", .invalidArguments
            ),
            Content("rosters/restore", #"{"zone":{"zoneName":"notes"}}"#, .invalidArguments),
            Content("rosters/restore", "{\"entries\":[{\"entry\":\(bytes(1_000))}]}", .invalidArguments),
            Content("rosters/restore", "{\"entries\":[{\"entry\":\(bytes(1_048_577))}]}", .invalidArguments),
            Content("rosters/restore", "{\"entries\":\(many(1_001) { _ in "{}" })}", .limitExceeded),
            Content("rosters/restore", "{\"entries\":[{}],\"grants\":\(many(101) { _ in "{}" })}", .limitExceeded),
            Content("shares/lookup", "{\"zone\":{\"zoneName\":\"nowhere\"}}", .zoneNotFound),
            Content("shares/lookup", "{\"shareRecordNames\":[\"\"]}", .invalidArguments),
            Content("shares/lookup", "{\"shareRecordNames\":\(many(401) { "\"s\($0)\"" })}", .limitExceeded),
            Content("shares/unsettled", "{\"zone\":{\"zoneName\":\"nowhere\"}}", .zoneNotFound),
            Content("rosters/append", "{\"operationId\":\(id),\"shareRecordName\":\"x\"}", .invalidArguments),
            Content(
                "rosters/fetch", "{\"rosters\":\(many(101) { "{\"zone\":{\"zoneName\":\"z\($0)\"}}" })}", .limitExceeded
            ),
            Content(
                "rosters/fetch", "{\"rosters\":\(many(2) { _ in #"{"zone":{"zoneName":"z"}}"# })}", .invalidArguments),
            Content("links/fetch", #"{"zone":{"zoneName":"notes"},"shareRecordName":"x"}"#, .unknownItem),
            Content("links/update", "{\"links\":\(many(102) { _ in "{}" })}", .limitExceeded),
            Content("links/update", #"{"links":[{}]}"#, .invalidArguments),
            Content("links/update", "{\"links\":[{\"routingId\":\(id),\"preview\":\(bytes(65_537))}]}", .limitExceeded),
            Content("links/update", "{\"sealedLinks\":\(many(102) { _ in "{}" })}", .limitExceeded),
            Content("links/update", #"{"sealedLinks":[{}]}"#, .invalidArguments),
            Content(
                "rosters/append", "{\"operationId\":\(id),\"entry\":{\"entry\":\(bytes(10))},\"sealedLinks\":[{}]}",
                .invalidArguments),
            Content("/1/share/owner", "{\"routingId\":\(bytes(15))}", .unknownItem),
            Content(
                "/1/share/request", "{\"routingId\":\(id),\"requestId\":\(bytes(15)),\"sealedContact\":\(id)}",
                .invalidArguments),
            Content("/1/share/request", "{\"routingId\":\(id),\"requestId\":\(id)}", .invalidArguments),
            Content(
                "/1/share/request", "{\"routingId\":\(id),\"requestId\":\(id),\"sealedContact\":\(bytes(4_097))}",
                .invalidArguments),
            Content(
                "/1/share/request", "{\"routingId\":\(bytes(15)),\"requestId\":\(id),\"sealedContact\":\(id)}",
                .unknownItem),
            Content("share/access/update", "{\"denied\":\(many(101) { "\"u\($0)\"" })}", .limitExceeded),
            Content("share/access/update", "{\"denied\":[\"\(long)\"]}", .invalidArguments),
        ]
        for call in ["links/update", "share/access/fetch", "share/access/update"] {
            all.append(Content(call, #"{"zone":{"zoneName":"notes"},"shareRecordName":"x"}"#, .unknownItem))
        }
        for call in ["links/fetch", "links/update", "share/access/fetch", "share/access/update"] {
            all += badNames.map { Content(call, "{\"zone\":{\"zoneName\":\"\($0)\"}}", .invalidArguments) }
        }
        return all
    }()

    private static let zones: [Content] = {
        var all: [Content] = []
        all += [0, 15, 17, 1_000_000].map {
            Content("zones/modify", "{\"operationId\":\(bytes($0))}", .invalidArguments)
        }
        all += [
            Content("zones/modify", "{\"operationId\":\(id),\"saves\":\(many(101) { _ in "{}" })}", .limitExceeded),
            Content(
                "zones/modify", "{\"operationId\":\(id),\"saves\":\(many(100) { _ in "{}" }),\"deletes\":[{}]}",
                .limitExceeded),
            Content("zones/lookup", "{\"zones\":\(many(401) { "{\"zoneName\":\"z\($0)\"}" })}", .limitExceeded),
        ]
        all += tokens("zones/changes") { "{\"token\":\($0)}" }
        return all
    }()

    private static let records: [Content] = {
        var all: [Content] = []
        all += [0, 15, 17, 1_000_000].map {
            Content("records/modify", "{\"operationId\":\(bytes($0))}", .invalidArguments)
        }
        all += [
            Content("records/modify", "{\"operationId\":\(id),\"records\":\(many(401) { _ in "{}" })}", .limitExceeded),
            Content(
                "records/modify",
                "{\"operationId\":\(id),\"zone\":{\"zoneName\":\"notes\"},\"records\":\(many(2) { _ in #"{"recordName":"a"}"# })}",
                .invalidArguments),
            Content("records/lookup", "{\"recordNames\":\(many(401) { "\"r\($0)\"" })}", .limitExceeded),
            Content("records/lookup", #"{"zone":{"zoneName":"notes"},"recordNames":["a","a"]}"#, .invalidArguments),
        ]
        all += badNames.flatMap { name -> [Content] in
            [
                Content(
                    "records/modify", "{\"operationId\":\(id),\"zone\":{\"zoneName\":\"\(name)\"}}", .invalidArguments),
                Content("records/lookup", "{\"zone\":{\"zoneName\":\"\(name)\"}}", .invalidArguments),
                Content("records/changes", "{\"zone\":{\"zoneName\":\"\(name)\"}}", .invalidArguments),
                Content("records/stale", "{\"zone\":{\"zoneName\":\"\(name)\"}}", .invalidArguments),
                Content(
                    "records/lookup", "{\"zone\":{\"zoneName\":\"notes\"},\"recordNames\":[\"\(name)\"]}",
                    .invalidArguments),
            ]
        }
        all += [long, #"a\u0000"#, "ü"].map {
            Content("records/lookup", "{\"zone\":{\"zoneName\":\"notes\",\"ownerName\":\"\($0)\"}}", .invalidArguments)
        }
        all.append(
            Content(
                "records/stale", #"{"zone":{"zoneName":"notes"},"after":"18446744073709551615"}"#, .invalidArguments))
        all += badNames.dropFirst().map { Content("records/created", "{\"after\":\"\($0)\"}", .invalidArguments) }
        all += tokens("records/changes") { "{\"zone\":{\"zoneName\":\"notes\"},\"token\":\($0)}" }
        return all
    }()

    private static let management: [Content] = {
        let schema = "/database/1/{container}/{environment}/schema/"
        var all: [Content] = []
        for count in [0, 15, 17] {
            all.append(Content("subscriptions/modify", "{\"operationId\":\(bytes(count))}", .invalidArguments))
        }
        all += [
            Content(
                "changes/zone", "{\"zones\":\(many(401) { "{\"zone\":{\"zoneName\":\"z\($0)\"}}" })}", .limitExceeded),
            Content(
                "changes/zone", #"{"zones":[{"zone":{"zoneName":"a"}},{"zone":{"zoneName":"a"}}]}"#, .invalidArguments),
            Content("records/query", "{}", .invalidArguments),
            Content("records/query", #"{"query":{"recordType":"a b"}}"#, .invalidArguments),
            Content("records/query", #"{"query":{"recordType":"Note","filterBy":[{}]}}"#, .invalidArguments),
            Content(
                "subscriptions/modify", "{\"operationId\":\(id),\"saves\":\(many(401) { _ in "{}" })}", .limitExceeded),
            Content("subscriptions/lookup", "{\"subscriptionIds\":\(many(401) { "\"s\($0)\"" })}", .limitExceeded),
            Content("server-keys/create", #"{"name":""}"#, .invalidArguments),
            Content("server-keys/create", "{\"name\":\"\(long)\"}", .invalidArguments),
            Content("server-keys/create", #"{"name":"a\u0000"}"#, .invalidArguments),
            Content("server-keys/create", #"{"name":"a"}"#, .integrityFailure),
            Content("server-keys/revoke", "{\"userRecordName\":\"\(long)\"}", .unknownItem),
            Content("assets/{owner}/{zone}/{id}/finish", #"{"root":"AAAA"}"#, .invalidArguments),
            Content("/1/management-tokens/create", #"{"container":"a b","name":"a"}"#, .badContainer),
            Content("/1/management-tokens/create", #"{"container":"a","name":"\u0001"}"#, .invalidArguments),
            Content(
                "/1/management-tokens/create", #"{"container":"a","name":"a","lifetime":"18446744073709551615"}"#,
                .invalidArguments),
            Content("/1/management-tokens/list", "{\"container\":\"\(long)\"}", .badContainer),
            Content("/1/management-tokens/revoke", "{\"id\":\"\(long)\"}", .invalidArguments),
            Content(schema + "import", #"{"schema":"DROP TABLE record"}"#, .invalidArguments),
            Content(schema + "deploy", "{}", .invalidArguments),
            Content(schema + "roles/assign", "{\"assignment\":{\"userRecordName\":\"\(long)\"}}", .invalidArguments),
            Content(schema + "roles/revoke", "{\"assignment\":{\"userRecordName\":\"\(long)\"}}", .invalidArguments),
            Content(schema + "roles/list", "{\"after\":\"\(long)\"}", .invalidArguments),
        ]
        return all
    }()

    /// Tokens that are none; those of another version have expired.
    private static func tokens(_ path: String, _ json: (String) -> String) -> [Content] {
        var all: [Content] = []
        for count in [1, 64] { all.append(.init(path, json(bytes(count)), .changeTokenExpired)) }
        for count in [65, 1_000_000] { all.append(.init(path, json(bytes(count)), .invalidArguments)) }
        for token in [[1], [1, 1], [1, 9]] as [[UInt8]] {
            all.append(.init(path, json("\"\(Data(token).base64EncodedString())\""), .invalidArguments))
        }
        return all
    }

    @Test func wrongContents() async throws {
        try await withServer { client, _, counter in
            for content in Self.contents {
                let path = content.path.hasPrefix("/") ? content.path : RefusalRoute.database + content.path
                let route = try #require(
                    RefusalTable.routes.first { $0.path == path && $0.method == "POST" }, "\(path)")
                let sample = try #require(route.sample)
                let bytes = try type(of: sample).init(jsonString: content.json).serializedBytes() as [UInt8]
                for (type, body) in [(RefusalClient.json, Array(content.json.utf8)), (RefusalClient.protobuf, bytes)] {
                    let answer = try await client.permitted(route).send("POST", route.filled(), type: type, bytes: body)
                    RefusalClient.check(answer, content.status, content.code, "\(content) as \(type)")
                }
            }
            // Nothing that is longer than it may be was handed on.
            #expect(counter.longestText <= 255)
            #expect(counter.longestBytes <= 8_192)
        }
    }

    /// Every message that has something to say has something in this table.
    @Test func everyMessageHasWrongContents() {
        let tried = Set(Self.contents.map { $0.path.hasPrefix("/") ? $0.path : RefusalRoute.database + $0.path })
        let taken = Set(RefusalTable.routes.filter { hasContent($0.sample) }.map(\.path))
        #expect(taken.subtracting(tried) == [])
    }

    private func hasContent(_ sample: (any Message)?) -> Bool {
        guard let sample, let bytes = try? sample.serializedBytes() as [UInt8] else { return false }
        // A single flag cannot be wrong.
        return bytes.count > 2
    }

    @Test func numbersOutOfRangeAndOddJSON() async throws {
        try await withServer { client, _, _ in
            let changes = RefusalRoute(Endpoints.zones.changes.route, nil).filled()
            for number in [
                "-1", "4294967296", "1e400", "1.5", "99999999999999999999999999", "NaN", #""x""#, "[]", "{}", "true",
            ] {
                let answer = try await client.send(
                    "POST", changes, type: RefusalClient.json, bytes: Array("{\"resultsLimit\":\(number)}".utf8))
                RefusalClient.check(answer, 400, .invalidArguments, number)
            }
            // As many as there are, and no more than a page.
            for number in ["0", "1", "400", "401", "4294967295", #""7""#, "1e2"] {
                let answer = try await client.send(
                    "POST", changes, type: RefusalClient.json, bytes: Array("{\"resultsLimit\":\(number)}".utf8))
                #expect(answer.status == 200, "\(number)")
            }
            // What JSON leaves open is decided one way or the other, and never fails.
            for json in [
                #"{"token":"","token":""}"#, #"{"resultsLimit":1,"results_limit":2}"#, #"{"token":null}"#, " {}\n",
                "\u{feff}{}",
                #"{"token":"=="}"#, #"{"token":"%"}"#, #"{"\u0000":1}"#, "{\"resultsLimit\":0000001}", "{} {}",
                "{\"token\":\"\\ud800\"}",
                "/*canary*/{}", "{'token':''}", "{token:1}", "{\"resultsLimit\":1,}",
            ] {
                let answer = try await client.send("POST", changes, type: RefusalClient.json, bytes: Array(json.utf8))
                #expect(answer.status == 200 || answer.status == 400, "\(json): \(answer.status)")
                if answer.status == 400 { RefusalClient.check(answer, 400, .invalidArguments, json) }
            }
        }
    }

    @Test func refusalsOfSingleItemsAreTheirOwn() async throws {
        try await withServer { client, _, counter in
            for name in Self.badNames {
                let json = "{\"zones\":[{\"zoneName\":\"\(name)\"},{\"zoneName\":\"notes\"}]}"
                let path = RefusalRoute(Endpoints.zones.lookup.route, nil).filled()
                let answer = try await client.send("POST", path, type: RefusalClient.json, bytes: Array(json.utf8))
                let results = try Sealkit_V1_LookupZonesResponse(jsonUTF8Bytes: answer.body).results
                #expect(
                    results.count == 2 && results[0].failure.errorCode == .invalidArguments
                        && results[1].zone.capabilities == 15)
            }
            let path = RefusalRoute(Endpoints.sharing.fetchRosters.route, nil).filled()
            let json =
                "{\"rosters\":[{\"zone\":{\"zoneName\":\"\(Self.long)\"}},{\"zone\":{\"zoneName\":\"notes\"},\"after\":\"18446744073709551615\"}]}"
            let answer = try await client.send("POST", path, type: RefusalClient.json, bytes: Array(json.utf8))
            let rosters = try Sealkit_V1_FetchRostersResponse(jsonUTF8Bytes: answer.body).rosters
            #expect(
                rosters.count == 2 && rosters[0].failure.errorCode == .invalidArguments && rosters[1].entries.isEmpty)
            #expect(counter.longestText <= 255)
        }
    }
}
