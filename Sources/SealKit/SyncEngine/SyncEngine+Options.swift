extension SyncEngine {
    /// Who has begun it.
    public enum SyncReason: Sendable, Hashable {
        /// The engine by itself.
        case scheduled
        /// The app, by `fetchChanges` or `sendChanges`.
        case manual
    }

    /// What a fetch brings.
    public struct FetchChangesOptions: Sendable {
        /// Which zones are fetched.
        public enum Scope: Sendable, Hashable {
            /// All of the database.
            case all
            /// All but these.
            case allExcluding([RecordZone.ID])
            /// These alone.
            case zoneIDs([RecordZone.ID])

            /// Whether a zone is among them.
            public func contains(_ zoneID: RecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zones): !zones.contains(zoneID)
                case .zoneIDs(let zones): zones.contains(zoneID)
                }
            }
        }

        /// Of which zones records are fetched. Which zones there are is fetched in any case.
        public var scope: Scope
        /// These first, all of each.
        public var prioritizedZoneIDs: [RecordZone.ID] = []
        /// What the server's telemetry counts its requests under; nil for none.
        public var operationGroup: OperationGroup?

        /// - Parameters:
        ///   - scope: which zones are fetched.
        ///   - operationGroup: what the server's telemetry counts its requests under.
        public init(scope: Scope = .all, operationGroup: OperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }
    }

    /// Why there is a fetch, and what it brings.
    public struct FetchChangesContext: Sendable {
        /// Whether the engine began it by itself.
        public let reason: SyncReason
        /// What it brings.
        public let options: FetchChangesOptions
    }

    /// What a send takes along.
    public struct SendChangesOptions: Sendable {
        /// Which changes are sent.
        public struct Scope: Sendable, Hashable {
            package enum Kind: Hashable, Sendable {
                case all
                case allExcluding([RecordZone.ID])
                case zoneIDs([RecordZone.ID])
                case recordIDs(Set<Record.ID>)
            }

            package let kind: Kind
            /// What has failed in this run already: it goes again with the next one.
            package internal(set) var failed: Set<Record.ID> = []

            private init(_ kind: Kind) { self.kind = kind }

            /// All that are pending.
            public static let all = Scope(.all)
            /// All but those in these zones.
            public static func allExcluding(_ zoneIDs: [RecordZone.ID]) -> Scope { Scope(.allExcluding(zoneIDs)) }
            /// Those in these zones alone.
            public static func zoneIDs(_ zoneIDs: [RecordZone.ID]) -> Scope { Scope(.zoneIDs(zoneIDs)) }
            /// Those of these records alone.
            public static func recordIDs(_ recordIDs: [Record.ID]) -> Scope { Scope(.recordIDs(Set(recordIDs))) }

            /// Whether it is to be sent now: give such changes alone,
            /// `state.pendingRecordZoneChanges.filter(context.options.scope.contains)`.
            public func contains(_ change: PendingRecordZoneChange) -> Bool { contains(change.recordID) }

            /// Whether a change is among them.
            public func contains(_ change: PendingDatabaseChange) -> Bool {
                switch kind {
                case .all: true
                case .allExcluding(let zones): !zones.contains(change.zoneID)
                case .zoneIDs(let zones): zones.contains(change.zoneID)
                case .recordIDs: false
                }
            }

            func contains(_ recordID: Record.ID) -> Bool { covers(recordID) && !failed.contains(recordID) }

            /// Whether it was asked for, also where it has failed since.
            func covers(_ recordID: Record.ID) -> Bool {
                switch kind {
                case .all: true
                case .allExcluding(let zones): !zones.contains(recordID.zoneID)
                case .zoneIDs(let zones): zones.contains(recordID.zoneID)
                case .recordIDs(let records): records.contains(recordID)
                }
            }
        }

        /// Which changes are sent.
        public var scope: Scope
        /// What the server's telemetry counts its requests under; nil for none.
        public var operationGroup: OperationGroup?

        /// - Parameters:
        ///   - scope: which changes are sent.
        ///   - operationGroup: what the server's telemetry counts its requests under.
        public init(scope: Scope = .all, operationGroup: OperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }
    }

    /// Why there is a send, and what it takes along.
    public struct SendChangesContext: Sendable {
        /// Whether the engine began it by itself.
        public let reason: SyncReason
        /// What it takes along: give nothing else in its batches.
        public internal(set) var options: SendChangesOptions
    }
}
