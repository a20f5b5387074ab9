import SealWire
import SwiftProtobuf

public import Foundation

extension ServerOperator {
    /// What happened to accounts, schemas, tokens or keys.
    public struct Event: Sendable, Hashable {
        /// What happened.
        public enum Kind: String, Sendable, CaseIterable {
            /// Somebody has made an account.
            case accountMade = "account-made"
            /// An account was deleted by its user.
            case accountDeleted = "account-deleted"
            /// The operator has suspended an account.
            case accountSuspended = "account-suspended"
            /// The operator has taken a suspension back.
            case accountUnsuspended = "account-unsuspended"
            /// The operator has set an account's quota.
            case quotaSet = "quota-set"
            /// A schema was imported into development.
            case schemaImported = "schema-imported"
            /// Development's schema was deployed to production.
            case schemaDeployed = "schema-deployed"
            /// Development's schema was set back to production's.
            case schemaReset = "schema-reset"
            /// A user was given a custom role.
            case roleAssigned = "role-assigned"
            /// A custom role was taken from a user.
            case roleRevoked = "role-revoked"
            /// A management token was made.
            case tokenMade = "token-made"
            /// A management token was revoked.
            case tokenRevoked = "token-revoked"
            /// An account has made a server-to-server key.
            case serverKeyMade = "server-key-made"
            /// A server-to-server key was revoked.
            case serverKeyRevoked = "server-key-revoked"
        }

        /// When, by the server's clock.
        public let date: Date
        /// Nil for what this version has no word for; `name` has the server's.
        public var kind: Kind? { Kind(rawValue: name) }
        /// The server's word for what happened.
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

    /// A page of events.
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
    /// - Throws: as the type says; `serverRejectedRequest` for a list that does not go on.
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
        return EventPage(
            events: answer.events.map(Event.init),
            cursor: try Self.next(answer.cursor, after: cursor, in: "list of events"))
    }
}
