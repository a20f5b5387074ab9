import SealWire
import SwiftProtobuf

public import struct Foundation.Data
public import struct Foundation.Date

/// What a server's operator asks of it while it runs: who has an account, what is stored, and who may not go on. The
/// transport leads to the server's operator's listener, not to the address that clients use.
///
/// <!-- swift: let token: OperatorToken -->
/// ```swift
/// let server = ServerOperator(token: token, transport: try HTTPTransport(server: "http://127.0.0.1:8090"))
/// for account in try await server.accounts().accounts { print(account.name, account.bytes) }
/// ```
///
/// Every call throws `notAuthenticated` for a token that is not the server's. An account is named by its name or a user
/// record name of it, by the beginning of either that fits no other account (six characters or more), or by an address
/// that it has proven: `invalidArguments` where several accounts fit, `unknownItem` where none does.
public struct ServerOperator: Sendable {
    let client: Client
    let token: OperatorToken

    /// - Parameters:
    ///   - token: the one in the server's secrets folder.
    ///   - transport: what reaches the operator's listener.
    public init(token: OperatorToken, transport: any Transport) {
        self.token = token
        client = Client(transport: transport)
    }

    /// An account, as its server's operator sees it: nothing of what it stores.
    public struct Account: Sendable, Hashable, Identifiable {
        public var id: String { name }
        /// 32 hexadecimal digits.
        public let name: String
        /// When it was made, by the server's clock.
        public let creationDate: Date
        /// The beginning of the day, in UTC, on which one of its devices was seen last; nil for never.
        public let lastSeen: Date?
        /// How many may log in.
        public let devices: Int
        /// What it stores.
        public let bytes: UInt64
        /// What it may store, in bytes; nil for no limit.
        public let quota: UInt64?
        /// The quota was set for this account, and is not the server's.
        public let hasOwnQuota: Bool
        /// Nil unless it is suspended.
        public let suspension: Suspension?
        /// Who it is in each container: `org.example.notes/_0123…`.
        public let identities: [String]

        init(_ wire: Sealkit_V1_OperatedAccount) {
            name = wire.account
            creationDate = Date(microseconds: wire.created)
            lastSeen = wire.lastSeen == 0 ? nil : Date(microseconds: wire.lastSeen)
            devices = Int(clamping: wire.devices)
            bytes = wire.bytes
            quota = wire.bytesLimit == 0 ? nil : wire.bytesLimit
            hasOwnQuota = wire.hasOwnLimit_p
            suspension = wire.hasSuspension ? Suspension(wire.suspension) : nil
            identities = wire.identities
        }
    }

    /// That the operator keeps an account from logging in.
    public struct Suspension: Sendable, Hashable {
        /// Since when, by the server's clock.
        public let since: Date
        /// As the operator gave it; empty where none was given.
        public let reason: String

        init(_ wire: Sealkit_V1_AccountSuspension) {
            since = Date(microseconds: wire.since)
            reason = wire.reason
        }
    }

    /// A page of accounts.
    public struct Page: Sendable {
        /// Oldest first.
        public let accounts: [Account]
        /// For the page that follows; nil where this is the last.
        public let cursor: Data?
    }

    /// Accounts, oldest first.
    /// - Parameters:
    ///   - text: a part of an account's name or of `container/user record name`, or a whole address: of addresses the
    ///     server knows hashes only. Empty: all.
    ///   - suspendedOnly: those that are suspended.
    ///   - cursor: of the page before; nil for the first.
    ///   - limit: accounts in the page, up to 1,000; nil for 100.
    /// - Throws: as the type says; `invalidArguments` for a text that is too long; `serverRejectedRequest` for a list
    ///   that does not go on.
    public func accounts(
        matching text: String = "", suspendedOnly: Bool = false, after cursor: Data? = nil, limit: Int? = nil
    ) async throws(SealKitError) -> Page {
        let answer = try await client.call(
            Endpoints.operator.accounts,
            Sealkit_V1_ListAccountsRequest.with {
                $0.find = text
                $0.suspendedOnly = suspendedOnly
                $0.cursor = cursor ?? Data()
                $0.limit = UInt32(clamping: limit ?? 0)
            }, token: token.text())
        return Page(
            accounts: answer.accounts.map(Account.init),
            cursor: try Self.next(answer.cursor, after: cursor, in: "list of accounts"))
    }

    /// Where a list goes on; nil at its end.
    /// - Parameters:
    ///   - answered: as the server says it, empty at the end.
    ///   - cursor: that it was asked to go on from.
    ///   - list: what it is of, for people.
    /// - Throws: `serverRejectedRequest` for a list that goes on where it was, so that no server goes in circles.
    static func next(_ answered: Data, after cursor: Data?, in list: String) throws(SealKitError) -> Data? {
        guard answered.isEmpty || answered != cursor else {
            throw SealKitError(.serverRejectedRequest, "the server's \(list) does not go on where it says so")
        }
        return answered.isEmpty ? nil : answered
    }

    /// Sums of what is stored.
    public struct Usage: Sendable {
        /// The account, where one was asked for.
        public let account: Account?
        /// Of the whole server: this and the next two. 0 where one account was asked for.
        public let accounts: UInt64
        /// How many of the accounts are suspended.
        public let suspendedAccounts: UInt64
        /// What belongs to public databases, and to no account any more.
        public let publicBytes: UInt64
        /// How many zones there are.
        public let zones: UInt64
        /// How many records there are.
        public let records: UInt64
        /// Files that were uploaded, and their bytes.
        public let assets: UInt64
        /// Bytes of the files that were uploaded.
        public let assetBytes: UInt64
        /// What counts against quotas, assets included.
        public let bytes: UInt64
        /// Rows of the database that count against quotas.
        public let rows: UInt64
        /// The same by container and environment: of the 1,000 that have the most bytes, largest first.
        public let containers: [Container]
        /// How many there are beside those.
        public let moreContainers: UInt64

        /// One container's part, in one environment.
        public struct Container: Sendable, Hashable {
            /// The container's name.
            public let containerIdentifier: String
            /// `development` or `production`.
            public let environment: String
            /// How many zones it has.
            public let zones: UInt64
            /// How many records it has.
            public let records: UInt64
            /// What counts against quotas, files included.
            public let bytes: UInt64
        }

        init(_ wire: Sealkit_V1_ServerUsageResponse) {
            account = wire.hasAccount ? Account(wire.account) : nil
            (accounts, suspendedAccounts, publicBytes) = (wire.accounts, wire.suspended, wire.publicBytes)
            (zones, records) = (wire.zones, wire.records)
            (assets, assetBytes) = (wire.assets, wire.assetBytes)
            (bytes, rows) = (wire.bytes, wire.rows)
            moreContainers = wire.moreContainers
            containers = wire.containers.map {
                Container(
                    containerIdentifier: $0.container, environment: $0.environment, zones: $0.zones,
                    records: $0.records, bytes: $0.bytes)
            }
        }
    }

    /// What the server stores. It counts rows and assets: on a large server that takes a while.
    /// - Parameter account: nil for the whole server.
    /// - Throws: as the type says.
    public func usage(of account: String? = nil) async throws(SealKitError) -> Usage {
        let answer = try await client.call(
            Endpoints.operator.usage, Sealkit_V1_ServerUsageRequest.with { $0.account = account ?? "" },
            token: token.text())
        return Usage(answer)
    }

    /// How much an account may store.
    public enum Quota: Sendable, Hashable {
        /// At least 1.
        case bytes(UInt64)
        /// As much as there is room for.
        case unlimited
        /// What the server's settings say.
        case serverDefault
    }

    /// Sets what an account may store. Below what it stores, nothing goes: it takes no more until there is room.
    /// - Parameters:
    ///   - quota: a number of bytes, none at all, or what the server gives everybody.
    ///   - account: as the type says.
    /// - Throws: as the type says; `invalidArguments` for a quota of 0 bytes.
    @discardableResult
    public func setQuota(_ quota: Quota, of account: String) async throws(SealKitError) -> Account {
        let answer = try await client.call(
            Endpoints.operator.quota,
            Sealkit_V1_SetQuotaRequest.with {
                $0.account = account
                switch quota {
                case .bytes(let bytes): $0.bytes = bytes
                case .unlimited: $0.unlimited = true
                case .serverDefault: $0.serverDefault = true
                }
            }, token: token.text())
        return Account(answer.account)
    }

    /// Ends an account's sessions and streams at once; its logins and server-to-server keys are refused with
    /// `accountSuspended` from then on. Its shares go on for everybody else in them. Doing it again is no mistake.
    /// - Parameters:
    ///   - account: as the type says.
    ///   - reason: one line, up to 255 bytes of UTF-8, which whoever logs in is shown.
    /// - Throws: as the type says; `invalidArguments` for a reason that is too long, or not printable.
    @discardableResult
    public func suspend(_ account: String, reason: String = "") async throws(SealKitError) -> Account {
        let answer = try await client.call(
            Endpoints.operator.suspend,
            Sealkit_V1_SuspendAccountRequest.with { ($0.account, $0.reason) = (account, reason) }, token: token.text())
        return Account(answer.account)
    }

    /// Lets a suspended account log in again. Doing it again is no mistake.
    /// - Throws: as the type says.
    @discardableResult
    public func unsuspend(_ account: String) async throws(SealKitError) -> Account {
        let answer = try await client.call(
            Endpoints.operator.unsuspend, Sealkit_V1_UnsuspendAccountRequest.with { $0.account = account },
            token: token.text())
        return Account(answer.account)
    }

    /// Who may make an account: `open`, `invite`, `closed`, and the codes that were made.
    public struct Invitations: Sendable {
        /// The codes, each good for one account until its date.
        public let codes: [(code: String, expirationDate: Date)]
        /// Who may make an account, as the server's settings say.
        public let registration: String
    }

    /// Makes registration codes, each good for one account on a server that takes accounts by invitation. Not repeated:
    /// after `serverResponseLost` make others, those of the lost answer are nobody's.
    /// - Parameters:
    ///   - count: 1 to 1,000.
    ///   - lifetime: seconds, from 1 on.
    /// - Throws: as the type says; `invalidArguments` for a count or a lifetime that is none.
    public func makeRegistrationCodes(_ count: Int = 1, lifetime: UInt64) async throws(SealKitError) -> Invitations {
        let answer = try await client.call(
            Endpoints.operator.invite,
            Sealkit_V1_MakeRegistrationCodesRequest.with {
                $0.count = UInt32(clamping: count)
                $0.lifetime = lifetime
            }, token: token.text())
        return Invitations(
            codes: answer.codes.map { ($0.code, Date(microseconds: $0.expires)) }, registration: answer.registration)
    }

    /// What the relay said to a mail of the operator's.
    public struct MailTrial: Sendable {
        /// The relay has taken the mail. That says nothing of where it ends.
        public let isTaken: Bool
        /// The relay's URL.
        public let relay: String
        /// Its last line; empty where it said nothing.
        public let answer: String
        /// Why it was not taken, and what can be done; empty where that is not known.
        public let reason: String
        /// What to write in the settings; empty where that is not known.
        public let remedy: String
    }

    /// Sends a mail with a fixed text by the server's relay.
    /// - Throws: `serverRejectedRequest` where the server has no relay; `requestRateLimited`.
    public func testMail(to address: String) async throws(SealKitError) -> MailTrial {
        let answer = try await client.call(
            Endpoints.operator.mailTest, Sealkit_V1_TestMailRequest.with { $0.address = address }, token: token.text())
        return MailTrial(
            isTaken: answer.taken, relay: answer.relay, answer: answer.answer, reason: answer.reason,
            remedy: answer.remedy)
    }
}

extension ServerOperator.Invitations: CustomStringConvertible, CustomReflectable {
    /// The codes show nowhere.
    public var description: String { "Invitations" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
