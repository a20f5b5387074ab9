import Foundation
import SealKit
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// The wire below the SDK: what the server itself says of a zone, statement by statement.
struct Feed: Sendable {
    let transport: any Transport
    /// `/database/1/…/private`.
    let base: String
    let token: String

    struct Item: Sendable {
        let hash: Digest
        let revision: UInt64
        let previous: Digest
        let position: UInt64
        let isDeleted: Bool
        let assets: [String]
    }

    /// A zone as far as a token: each record once, in its last version.
    struct State: Sendable {
        var items: [String: Item] = [:]
        var token = Data()
    }

    func call<Answer: Message>(_ path: String, _ request: some Message, as: Answer.Type) async throws -> Answer {
        let response = try await transport.post("\(base)/\(path)", body: try request.serializedData(), token: token)
        try check(response.status == 200, "\(path) was answered with \(response.status): \(response.failureText)")
        return try Answer(serializedBytes: response.body)
    }

    /// All pages after a token.
    /// - Throws: `Finding` when a record comes twice, or out of order.
    func changes(in zone: String, since token: Data, limit: Int) async throws -> (items: [String: Item], token: Data) {
        var found: [String: Item] = [:]
        var token = token
        var last: UInt64 = 0
        while true {
            let page = try await call(
                "records/changes",
                Sealkit_V1_RecordChangesRequest.with {
                    $0.zone.zoneName = zone
                    $0.token = token
                    $0.resultsLimit = UInt32(limit)
                }, as: Sealkit_V1_RecordChangesResponse.self)
            for record in page.records {
                try check(record.position > last, "a feed is out of order at \(record.recordName)")
                last = record.position
                let item = try Self.item(record)
                try check(
                    found.updateValue(item, forKey: record.recordName) == nil,
                    "\(record.recordName) came twice since one token")
            }
            token = page.token
            if !page.moreComing { return (found, token) }
            try check(!page.records.isEmpty, "an empty page promises more")
        }
    }

    private static func item(_ record: Sealkit_V1_Record) throws -> Item {
        // One that went with another comes with the statement that went; whether that is proven is for devices to say.
        guard !record.hasDerived else {
            return Item(
                hash: .zero, revision: 0, previous: .zero, position: record.position, isDeleted: record.deleted,
                assets: [])
        }
        let bytes = [UInt8](record.statement)
        let statement = try Statement(canonicalBytes: bytes)
        return Item(
            hash: Statement.hash(bytes), revision: statement.revision, previous: statement.previous,
            position: record.position,
            isDeleted: record.deleted,
            assets: record.fields.compactMap {
                $0.content.flatMap { if case .asset(let asset) = $0 { asset.blob } else { nil } }
            })
    }

    /// Follows a token to the end, and holds what came against the whole zone: exactly what changed came, once.
    func advance(_ state: State, in zone: String, limit: Int) async throws -> State {
        let delta = try await changes(in: zone, since: state.token, limit: limit)
        let whole = try await changes(in: zone, since: Data(), limit: 0)
        var next = State(items: state.items, token: delta.token)
        for (name, item) in delta.items {
            try check(state.items[name]?.position != item.position, "\(name) was delivered again without a change")
            next.items[name] = item
        }
        for (name, item) in whole.items {
            try check(next.items[name]?.hash == item.hash, "a change of \(name) was not delivered to an old token")
        }
        for (name, item) in next.items where whole.items[name] == nil {
            try check(item.isDeleted, "\(name) is gone without a deletion")
        }
        return next
    }
}

extension TransportResponse {
    var failureText: String {
        guard let failure = try? Sealkit_V1_Failure(serializedBytes: body) else { return "\(body.count) bytes" }
        return "\(failure.code): \(failure.reason)"
    }
}
