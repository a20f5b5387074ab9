import SealWire
import SwiftProtobuf

public import Foundation

extension ServerOperator {
    /// What happened to accounts, schemas, tokens or keys.
    public struct Event: Sendable, Hashable {
        public enum Kind: String, Sendable, CaseIterable {
            case accountMade = "account-made"
            case accountDeleted = "account-deleted"
            case accountSuspended = "account-suspended"
            case accountUnsuspended = "account-unsuspended"
            case quotaSet = "quota-set"
            case schemaImported = "schema-imported"
            case schemaDeployed = "schema-deployed"
            case schemaReset = "schema-reset"
            case roleAssigned = "role-assigned"
            case roleRevoked = "role-revoked"
            case tokenMade = "token-made"
            case tokenRevoked = "token-revoked"
            case serverKeyMade = "server-key-made"
            case serverKeyRevoked = "server-key-revoked"
        }

        public let date: Date
        /// Nil for what this version has no word for; `name` has the server's.
        public var kind: Kind? { Kind(rawValue: name) }
        public let name: String
        /// Empty for what is of none.
        public let containerIdentifier: String
        /// `development`, `production`, or empty.
        public let environment: String
        /// An account's name; empty for what is of none. Events of an account go with it.
        public let account: String
        /// For people: a token's or key's name, what a schema gained and lost, a quota, a reason.
        public let detail: String

        init(_ wire: Sealkit_V1_ManagementEvent) {
            date = Date(microseconds: wire.time)
            (name, containerIdentifier, environment) = (wire.kind, wire.container, wire.environment)
            (account, detail) = (wire.account, wire.detail)
        }
    }

    public struct EventPage: Sendable {
        /// Newest first.
        public let events: [Event]
        /// For the page that follows; nil where this is the last.
        public let cursor: Data?
    }

    /// What happened in the last two years, newest first.
    /// - Parameters:
    ///   - kinds: empty for all.
    ///   - containerIdentifier: those of one container alone.
    ///   - account: those of one account alone, named as the type says.
    ///   - from: from this date on.
    ///   - until: before this date; nil for now.
    ///   - cursor: of the page before; nil for the first.
    ///   - limit: events in the page, up to 1,000; nil for 100.
    public func events(
        of kinds: Set<Event.Kind> = [], containerIdentifier: String? = nil, account: String? = nil, from: Date? = nil,
        until: Date? = nil, after cursor: Data? = nil, limit: Int? = nil
    ) async throws(SealKitError) -> EventPage {
        let answer = try await client.call(
            Endpoints.monitoring.events,
            Sealkit_V1_ListEventsRequest.with {
                $0.from = from?.systemTime ?? 0
                $0.until = until?.systemTime ?? 0
                $0.kinds = kinds.map(\.rawValue).sorted()
                $0.container = containerIdentifier ?? ""
                $0.account = account ?? ""
                $0.cursor = cursor ?? Data()
                $0.limit = UInt32(clamping: limit ?? 0)
            }, token: token.text())
        guard answer.cursor.isEmpty || answer.cursor != cursor else {
            throw SealKitError(.serverRejectedRequest, "the server's list of events does not go on where it says so")
        }
        return EventPage(events: answer.events.map(Event.init), cursor: answer.cursor.isEmpty ? nil : answer.cursor)
    }
}
