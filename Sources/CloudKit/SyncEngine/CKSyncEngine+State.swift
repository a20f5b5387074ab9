import SealKit

extension CKSyncEngine {
    /// A record that is to be saved or deleted, by its name: it is asked for when it is sent.
    public enum PendingRecordZoneChange: Sendable, Hashable, CustomStringConvertible {
        case saveRecord(CKRecord.ID)
        case deleteRecord(CKRecord.ID)

        init(_ sealed: SealKit.SyncEngine.PendingRecordZoneChange) {
            self =
                switch sealed {
                case .saveRecord(let id): .saveRecord(CKRecordID(id))
                case .deleteRecord(let id): .deleteRecord(CKRecordID(id))
                }
        }

        var sealed: SealKit.SyncEngine.PendingRecordZoneChange {
            switch self {
            case .saveRecord(let id): .saveRecord(id.sealed)
            case .deleteRecord(let id): .deleteRecord(id.sealed)
            }
        }

        public var description: String {
            switch self {
            case .saveRecord(let id): "saveRecord(\(id))"
            case .deleteRecord(let id): "deleteRecord(\(id))"
            }
        }
    }

    /// A zone that is to be made or deleted.
    public enum PendingDatabaseChange: Sendable, Hashable, CustomStringConvertible {
        case saveZone(CKRecordZone)
        case deleteZone(CKRecordZone.ID)

        init(_ sealed: SealKit.SyncEngine.PendingDatabaseChange) {
            self =
                switch sealed {
                case .saveZone(let zone): .saveZone(CKRecordZone(zone))
                case .deleteZone(let id): .deleteZone(CKRecordZoneID(id))
                }
        }

        var sealed: SealKit.SyncEngine.PendingDatabaseChange {
            switch self {
            case .saveZone(let zone): .saveZone(zone.sealed)
            case .deleteZone(let id): .deleteZone(id.sealed)
            }
        }

        public var description: String {
            switch self {
            case .saveZone(let zone): "saveZone(\(zone.zoneID))"
            case .deleteZone(let id): "deleteZone(\(id))"
            }
        }
    }

    /// What is to be sent, and how far the server's changes are known: of the engine that has taken this one's place,
    /// where one has.
    public final class State: Sendable {
        private let adapter: SyncEngineAdapter

        init(_ adapter: SyncEngineAdapter) { self.adapter = adapter }

        /// In the order in which they were added, one for each record.
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] {
            adapter.state.pendingRecordZoneChanges.map { PendingRecordZoneChange($0) }
        }

        /// In the order in which they were added, one for each zone.
        public var pendingDatabaseChanges: [PendingDatabaseChange] {
            adapter.state.pendingDatabaseChanges.map { PendingDatabaseChange($0) }
        }

        /// For an app that keeps its own list of what has changed: whether it is to be asked though nothing is pending
        /// here.
        public var hasPendingUntrackedChanges: Bool {
            get { adapter.state.hasPendingUntrackedChanges }
            set { adapter.state.hasPendingUntrackedChanges = newValue }
        }

        /// Zones of which there is something to fetch.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
            adapter.state.zoneIDsWithUnfetchedServerChanges.map { CKRecordZoneID($0) }
        }

        /// What is there already stays in its place; the opposite of what is there replaces it.
        public func add(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            adapter.state.add(pendingRecordZoneChanges: pendingRecordZoneChanges.map(\.sealed))
        }

        public func remove(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            adapter.state.remove(pendingRecordZoneChanges: pendingRecordZoneChanges.map(\.sealed))
        }

        /// What is there already stays in its place; the opposite of what is there replaces it.
        public func add(pendingDatabaseChanges: [PendingDatabaseChange]) {
            adapter.state.add(pendingDatabaseChanges: pendingDatabaseChanges.map(\.sealed))
        }

        public func remove(pendingDatabaseChanges: [PendingDatabaseChange]) {
            adapter.state.remove(pendingDatabaseChanges: pendingDatabaseChanges.map(\.sealed))
        }

        /// A state as the app keeps it, in whatever encoder's form: names of records, zones and the user, and where
        /// feeds were read to; no value of a record and no key.
        public struct Serialization: Codable, Sendable {
            let sealed: SealKit.SyncEngine.State.Serialization

            init(_ sealed: SealKit.SyncEngine.State.Serialization) { self.sealed = sealed }

            /// - Throws: `incompatibleVersion` for what a newer version has written: do not begin anew, which would
            ///   forget what is to be sent; `DecodingError` for what is no state.
            public init(from decoder: any Decoder) throws {
                do { sealed = try SealKit.SyncEngine.State.Serialization(from: decoder) } catch {
                    throw (error as? SealKitError).map { CKError($0) } ?? error
                }
            }

            public func encode(to encoder: any Encoder) throws { try sealed.encode(to: encoder) }
        }
    }
}
