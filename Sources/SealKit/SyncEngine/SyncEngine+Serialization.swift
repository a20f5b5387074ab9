extension SyncEngine.State {
    /// A state as the app keeps it, in whatever encoder's form. It holds names of records, zones and the user, and
    /// where feeds were read to: no value of a record and no key.
    public struct Serialization: Sendable, Codable {
        let content: Content

        /// Whose state it is; nil before the first sign-in and after a sign-out. Whoever made a new account because all
        /// keys of this one are lost says so with it (``AccountProvider/signIn(_:trust:journal:replacing:)``).
        public var userRecordID: Record.ID? { content.account.map { Record.ID(recordName: $0) } }

        /// Of this form. What a newer version writes is not read by an older one.
        private static let version = 1

        init(content: Content) { self.content = content }

        private enum Key: String, CodingKey {
            case version, account, databaseToken, zones, unfetched, records, database, hasPendingUntrackedChanges
        }

        private struct Zone: Codable {
            let zoneID: RecordZone.ID
            let token: ServerChangeToken?
            let incarnation: UInt32?
            /// nil for nothing.
            let awaiting: [Waiting]?

            init(_ zoneID: RecordZone.ID, _ zone: SyncEngine.State.Zone) {
                (self.zoneID, token, incarnation) = (zoneID, zone.token, zone.incarnation)
                awaiting =
                    zone.awaiting.isEmpty
                    ? nil : zone.awaiting.map { Waiting(key: $0, recordNames: $1.recordNames?.sorted()) }
            }

            var content: SyncEngine.State.Zone {
                var zone = SyncEngine.State.Zone(token: token, incarnation: incarnation)
                for one in awaiting ?? [] {
                    zone.awaiting[one.key] = SyncEngine.State.Awaiting(recordNames: one.recordNames)
                }
                return zone
            }
        }

        private struct Waiting: Codable {
            let key: EpochKeyName
            /// nil for all of the zone; none where nothing waits for the key any more.
            let recordNames: [String]?
        }

        private struct RecordChange: Codable {
            let recordID: Record.ID
            let isDeletion: Bool
        }

        private struct DatabaseChange: Codable {
            let zoneID: RecordZone.ID
            /// Of a zone to be made; nil for one to be deleted.
            let encryptionScope: Int?
        }

        /// - Throws: `incompatibleVersion` for what a newer version has written: do not begin anew, which would forget
        ///   what is to be sent; `DecodingError` for what is no state.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            guard try container.decode(Int.self, forKey: .version) == Self.version else {
                throw SealKitError(
                    .incompatibleVersion, "the sync engine's state was written by another version of SealKit",
                    remedy: "update SealKit")
            }
            var content = Content()
            content.account = try container.decodeIfPresent(String.self, forKey: .account)
            content.databaseToken = try container.decodeIfPresent(ServerChangeToken.self, forKey: .databaseToken)
            for zone in try container.decode([Zone].self, forKey: .zones) {
                content.zones[zone.zoneID] = zone.content
            }
            for zone in try container.decode([RecordZone.ID].self, forKey: .unfetched)
            where !content.unfetched.contains(zone) {
                content.unfetched.append(zone)
            }
            for change in try container.decode([RecordChange].self, forKey: .records) {
                _ = content.records.add(
                    change.isDeletion ? .deleteRecord(change.recordID) : .saveRecord(change.recordID), at: 0)
            }
            for change in try container.decode([DatabaseChange].self, forKey: .database) {
                guard let number = change.encryptionScope else {
                    _ = content.database.add(.deleteZone(change.zoneID), at: 0)
                    continue
                }
                guard let scope = RecordZone.EncryptionScope(rawValue: number) else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .database, in: container, debugDescription: "no encryption scope")
                }
                var zone = RecordZone(zoneID: change.zoneID)
                zone.encryptionScope = scope
                _ = content.database.add(.saveZone(zone), at: 0)
            }
            content.hasPendingUntrackedChanges = try container.decode(Bool.self, forKey: .hasPendingUntrackedChanges)
            self.content = content
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Self.version, forKey: .version)
            try container.encodeIfPresent(content.account, forKey: .account)
            try container.encodeIfPresent(content.databaseToken, forKey: .databaseToken)
            try container.encode(content.zones.map { Zone($0, $1) }, forKey: .zones)
            try container.encode(content.unfetched, forKey: .unfetched)
            let records = content.records.all.map { change in
                switch change {
                case .saveRecord(let id): RecordChange(recordID: id, isDeletion: false)
                case .deleteRecord(let id): RecordChange(recordID: id, isDeletion: true)
                }
            }
            try container.encode(records, forKey: .records)
            let database = content.database.all.map { change in
                switch change {
                case .saveZone(let zone):
                    DatabaseChange(zoneID: zone.zoneID, encryptionScope: zone.encryptionScope.rawValue)
                case .deleteZone(let id): DatabaseChange(zoneID: id, encryptionScope: nil)
                }
            }
            try container.encode(database, forKey: .database)
            try container.encode(content.hasPendingUntrackedChanges, forKey: .hasPendingUntrackedChanges)
        }
    }
}
