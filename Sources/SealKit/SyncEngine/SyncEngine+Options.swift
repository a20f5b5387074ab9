extension SyncEngine {
    /// Who has begun it.
    public enum SyncReason: Sendable, Hashable {
        /// The engine by itself.
        case scheduled
        /// The app, by `fetchChanges` or `sendChanges`.
        case manual
    }

    public struct FetchChangesOptions: Sendable {
        public enum Scope: Sendable, Hashable {
            case all
            case allExcluding([RecordZone.ID])
            case zoneIDs([RecordZone.ID])

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
        public var operationGroup: OperationGroup?

        public init(scope: Scope = .all, operationGroup: OperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }
    }

    public struct FetchChangesContext: Sendable {
        public let reason: SyncReason
        public let options: FetchChangesOptions
    }

    public struct SendChangesOptions: Sendable {
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

            public static let all = Scope(.all)
            public static func allExcluding(_ zoneIDs: [RecordZone.ID]) -> Scope { Scope(.allExcluding(zoneIDs)) }
            public static func zoneIDs(_ zoneIDs: [RecordZone.ID]) -> Scope { Scope(.zoneIDs(zoneIDs)) }
            public static func recordIDs(_ recordIDs: [Record.ID]) -> Scope { Scope(.recordIDs(Set(recordIDs))) }

            /// Whether it is to be sent now: give such changes alone,
            /// `state.pendingRecordZoneChanges.filter(context.options.scope.contains)`.
            public func contains(_ change: PendingRecordZoneChange) -> Bool { contains(change.recordID) }

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

        public var scope: Scope
        public var operationGroup: OperationGroup?

        public init(scope: Scope = .all, operationGroup: OperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }
    }

    public struct SendChangesContext: Sendable {
        public let reason: SyncReason
        public internal(set) var options: SendChangesOptions
    }
}
