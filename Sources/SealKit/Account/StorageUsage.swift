import SealStatements
import SealWire
import SwiftProtobuf

/// How much an account stores on its server: everything that is kept in all zones that it owns, whoever wrote it, as it
/// is stored (sealed and padded), and everything that is kept for the account itself. What others own counts for them.
public struct StorageUsage: Sendable, Equatable {
    /// Live records.
    public var recordCount: Int
    /// Of all that is kept (<doc:Limits>): records and their tombstones, assets, rosters, subscriptions, devices, kept
    /// answers.
    public var bytes: Int64
    /// What the account may store; nil when the server has no limit.
    public var bytesLimit: Int64?
    /// By container and environment.
    public var containers: [Container]

    /// One container's part.
    public struct Container: Sendable, Equatable {
        /// The container's name.
        public var containerIdentifier: String
        /// Nil for one that this version does not know.
        public var environment: SealKit.Container.Environment?
        /// How many zones the account owns there.
        public var zoneCount: Int
        /// How many records are in those zones.
        public var recordCount: Int
        /// What counts against the quota, files included.
        public var bytes: Int64
    }
}

extension StorageUsage {
    init(_ wire: Sealkit_V1_StorageUsageResponse) {
        recordCount = Int(clamping: wire.records)
        bytes = Int64(clamping: wire.bytes)
        bytesLimit = wire.bytesLimit == 0 ? nil : Int64(clamping: wire.bytesLimit)
        containers = wire.containers.map { part in
            Container(
                containerIdentifier: part.container, environment: .init(rawValue: part.environment),
                zoneCount: Int(clamping: part.zones), recordCount: Int(clamping: part.records),
                bytes: Int64(clamping: part.bytes))
        }
    }
}

extension Account {
    /// How much this account stores on its server, by the server's count.
    /// - Throws: `networkFailure`, `notAuthenticated`.
    public func storageUsage() async throws(SealKitError) -> StorageUsage {
        let response = try await exchange(Endpoints.accounts.usage.route, .read) { token throws(SealKitError) in
            try Client.decode(try await client.transport.get(Endpoints.accounts.usage.route.template, token: token))
                as Sealkit_V1_StorageUsageResponse
        }
        return StorageUsage(response)
    }
}

extension Container {
    /// How much the account stores in this container and environment, by the server's count; nil when it stores
    /// nothing.
    /// - Throws: `networkFailure`, `notAuthenticated`.
    public func storageUsage() async throws(SealKitError) -> StorageUsage.Container? {
        try await core.account.storageUsage().containers.first {
            $0.containerIdentifier == core.identifier && $0.environment?.rawValue == core.environment.name
        }
    }
}
