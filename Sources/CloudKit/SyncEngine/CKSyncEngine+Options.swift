import SealKit

extension CKSyncEngine {
    /// Who has begun it.
    public enum SyncReason: Sendable, Hashable, CustomStringConvertible {
        /// The engine by itself.
        case scheduled
        /// The app, by `fetchChanges` or `sendChanges`.
        case manual

        init(_ sealed: SealKit.SyncEngine.SyncReason) { self = sealed == .scheduled ? .scheduled : .manual }

        public var description: String { self == .scheduled ? "scheduled" : "manual" }
    }

    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        public enum Scope: Sendable, Equatable, CustomStringConvertible {
            case all
            case allExcluding([CKRecordZone.ID])
            case zoneIDs([CKRecordZone.ID])

            public func contains(_ zoneID: CKRecordZone.ID) -> Bool { sealed.contains(zoneID.sealed) }

            init(_ sealed: SealKit.SyncEngine.FetchChangesOptions.Scope) {
                self =
                    switch sealed {
                    case .all: .all
                    case .allExcluding(let zones): .allExcluding(zones.map { CKRecordZoneID($0) })
                    case .zoneIDs(let zones): .zoneIDs(zones.map { CKRecordZoneID($0) })
                    }
            }

            var sealed: SealKit.SyncEngine.FetchChangesOptions.Scope {
                switch self {
                case .all: .all
                case .allExcluding(let zones): .allExcluding(zones.map(\.sealed))
                case .zoneIDs(let zones): .zoneIDs(zones.map(\.sealed))
                }
            }

            public var description: String {
                switch self {
                case .all: "all"
                case .allExcluding(let zones): "allExcluding(\(zones))"
                case .zoneIDs(let zones): "zoneIDs(\(zones))"
                }
            }
        }

        /// Of which zones records are fetched. Which zones there are is fetched in any case.
        public var scope: Scope
        public var operationGroup: CKOperationGroup
        /// These first, all of each.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        init(_ sealed: SealKit.SyncEngine.FetchChangesOptions) {
            self.init(
                scope: Scope(sealed.scope), operationGroup: sealed.operationGroup.map { CKOperationGroup($0) })
            prioritizedZoneIDs = sealed.prioritizedZoneIDs.map { CKRecordZoneID($0) }
        }

        var sealed: SealKit.SyncEngine.FetchChangesOptions {
            var options = SealKit.SyncEngine.FetchChangesOptions(
                scope: scope.sealed, operationGroup: operationGroup.sealed)
            options.prioritizedZoneIDs = prioritizedZoneIDs.map(\.sealed)
            return options
        }

        public var description: String { "<CKSyncEngine.FetchChangesOptions: \(scope)>" }
    }

    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        public let reason: SyncReason
        public let options: FetchChangesOptions

        init(_ sealed: SealKit.SyncEngine.FetchChangesContext) {
            reason = SyncReason(sealed.reason)
            options = FetchChangesOptions(sealed.options)
        }

        public var description: String { "<CKSyncEngine.FetchChangesContext: \(reason), \(options.scope)>" }
    }

    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        public enum Scope: Sendable, Equatable, CustomStringConvertible {
            case all
            case allExcluding([CKRecordZone.ID])
            case zoneIDs([CKRecordZone.ID])
            case recordIDs([CKRecord.ID])

            public func contains(_ recordID: CKRecord.ID) -> Bool { contains(.saveRecord(recordID)) }

            public func contains(_ pendingChange: PendingRecordZoneChange) -> Bool {
                sealed.contains(pendingChange.sealed)
            }

            init(_ sealed: SealKit.SyncEngine.SendChangesOptions.Scope) {
                self =
                    switch sealed.kind {
                    case .all: .all
                    case .allExcluding(let zones): .allExcluding(zones.map { CKRecordZoneID($0) })
                    case .zoneIDs(let zones): .zoneIDs(zones.map { CKRecordZoneID($0) })
                    case .recordIDs(let records): .recordIDs(records.map { CKRecordID($0) })
                    }
            }

            var sealed: SealKit.SyncEngine.SendChangesOptions.Scope {
                switch self {
                case .all: .all
                case .allExcluding(let zones): .allExcluding(zones.map(\.sealed))
                case .zoneIDs(let zones): .zoneIDs(zones.map(\.sealed))
                case .recordIDs(let records): .recordIDs(records.map(\.sealed))
                }
            }

            public var description: String {
                switch self {
                case .all: "all"
                case .allExcluding(let zones): "allExcluding(\(zones))"
                case .zoneIDs(let zones): "zoneIDs(\(zones))"
                case .recordIDs(let records): "recordIDs(\(records))"
                }
            }
        }

        /// Give changes of this scope alone.
        public var scope: Scope
        public var operationGroup: CKOperationGroup

        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        init(_ sealed: SealKit.SyncEngine.SendChangesOptions) {
            self.init(
                scope: Scope(sealed.scope), operationGroup: sealed.operationGroup.map { CKOperationGroup($0) })
        }

        var sealed: SealKit.SyncEngine.SendChangesOptions {
            SealKit.SyncEngine.SendChangesOptions(scope: scope.sealed, operationGroup: operationGroup.sealed)
        }

        public var description: String { "<CKSyncEngine.SendChangesOptions: \(scope)>" }
    }

    public struct SendChangesContext: Sendable, CustomStringConvertible {
        public let reason: SyncReason
        public let options: SendChangesOptions

        init(_ sealed: SealKit.SyncEngine.SendChangesContext) {
            reason = SyncReason(sealed.reason)
            options = SendChangesOptions(sealed.options)
        }

        public var description: String { "<CKSyncEngine.SendChangesContext: \(reason), \(options.scope)>" }
    }
}
