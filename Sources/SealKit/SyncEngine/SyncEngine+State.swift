import Synchronization

extension SyncEngine {
    /// What is to be sent, and how far the server's changes are known. The app adds and removes; the engine keeps the
    /// rest.
    public final class State: Sendable {
        struct Zone: Sendable, Hashable {
            var token: ServerChangeToken?
            /// Of the zone that the token, and what the app has of it, belongs to.
            var incarnation: UInt32?
            /// What did not open for want of keys, and is looked at again when they come.
            var awaiting: [EpochKeyName: Awaiting] = [:]
        }

        struct Content: Sendable {
            /// The user record name of whom all of this is; nil before the first sign-in and after a sign-out.
            var account: String?
            var databaseToken: ServerChangeToken?
            var zones: [RecordZone.ID: Zone] = [:]
            var unfetched: [RecordZone.ID] = []
            var records = PendingChanges<Record.ID, PendingRecordZoneChange> { $0.recordID }
            var database = PendingChanges<RecordZone.ID, PendingDatabaseChange> { $0.zoneID }
            var hasPendingUntrackedChanges = false

            fileprivate mutating func removeDatabaseChange(_ change: PendingDatabaseChange) -> Bool {
                guard case .saveZone(let zone) = change else { return database.remove(change) }
                let same = database.all.first {
                    if case .saveZone(let other) = $0 { other.zoneID == zone.zoneID } else { false }
                }
                return same.map { database.remove($0) } ?? false
            }
        }

        private struct Kept: Sendable {
            var content: Content
            /// Goes up with each change.
            var version = 0
            /// Goes up with each addition.
            var moment = 0
            var watcher: (@Sendable (_ hasNewChanges: Bool) -> Void)?
        }

        private let kept: Mutex<Kept>

        /// What is given on without having been encoded was added at moments of another engine's: those here come after
        /// them.
        package init(_ serialization: Serialization?) {
            let content = serialization?.content ?? Content()
            kept = Mutex(Kept(content: content, moment: max(content.records.newest, content.database.newest)))
        }

        // MARK: For the app

        /// Records to save and delete, in the order in which they were added.
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] { content.records.all }
        /// Zones to make and delete, in the order in which they were added.
        public var pendingDatabaseChanges: [PendingDatabaseChange] { content.database.all }
        /// Zones of which there is something to fetch.
        public var zoneIDsWithUnfetchedServerChanges: [RecordZone.ID] { content.unfetched }

        /// For an app that keeps its own list of what has changed: whether
        /// ``SyncEngineDelegate/nextRecordZoneChangeBatch(_:syncEngine:)`` is to be asked though nothing is pending
        /// here. Set it at each change, which has an engine that syncs by itself send soon, and back when nothing of
        /// the list is left: the engine does not.
        public var hasPendingUntrackedChanges: Bool {
            get { content.hasPendingUntrackedChanges }
            set {
                let watcher = kept.withLock { kept -> (@Sendable (Bool) -> Void)? in
                    let isNews = kept.content.hasPendingUntrackedChanges != newValue
                    kept.content.hasPendingUntrackedChanges = newValue
                    if isNews { kept.version += 1 }
                    return isNews || newValue ? kept.watcher : nil
                }
                watcher?(newValue)
            }
        }

        /// What is there already stays in its place; the opposite of what is there replaces it. A record that is added
        /// again while it is being sent is sent once more.
        public func add(pendingRecordZoneChanges changes: [PendingRecordZoneChange]) {
            add(changes.isEmpty) { content, moment in
                changes.reduce(false) { content.records.add($1, at: moment) || $0 }
            }
        }

        /// What is there already stays in its place; the opposite of what is there replaces it.
        public func add(pendingDatabaseChanges changes: [PendingDatabaseChange]) {
            add(changes.isEmpty) { content, moment in
                changes.reduce(false) { content.database.add($1, at: moment) || $0 }
            }
        }

        /// Lets go of changes: they are not sent any more, unless they are added again.
        public func remove(pendingRecordZoneChanges changes: [PendingRecordZoneChange]) {
            change { content in changes.reduce(false) { content.records.remove($1) || $0 } }
        }

        /// A zone that is to be made is known by its name, whatever else this one says of it.
        public func remove(pendingDatabaseChanges changes: [PendingDatabaseChange]) {
            change { content in changes.reduce(false) { content.removeDatabaseChange($1) || $0 } }
        }

        // MARK: For the engine

        /// What the engine itself notes: nobody is told by this alone.
        func apply(_ body: (inout Content) -> Void) {
            kept.withLock { kept in
                body(&kept.content)
                kept.version += 1
            }
        }

        var content: Content { kept.withLock { $0.content } }
        var version: Int { kept.withLock { $0.version } }
        /// Later than everything that was added so far, and before all that will be.
        var moment: Int { kept.withLock { $0.moment } }
        var serialization: (Serialization, version: Int) {
            kept.withLock { (Serialization(content: $0.content), $0.version) }
        }

        func watch(_ watcher: @escaping @Sendable (_ hasNewChanges: Bool) -> Void) {
            kept.withLock { $0.watcher = watcher }
        }

        /// - Parameter body: returns whether it has changed anything.
        private func change(_ body: (inout Content) -> Bool) {
            let watcher = kept.withLock { kept -> (@Sendable (Bool) -> Void)? in
                guard body(&kept.content) else { return nil }
                kept.version += 1
                return kept.watcher
            }
            watcher?(false)
        }

        private func add(_ isNothing: Bool, _ body: (inout Content, _ moment: Int) -> Bool) {
            guard !isNothing else { return }
            let watcher = kept.withLock { kept -> (@Sendable (Bool) -> Void)? in
                kept.moment += 1
                if body(&kept.content, kept.moment) { kept.version += 1 }
                return kept.watcher
            }
            watcher?(true)
        }
    }
}
