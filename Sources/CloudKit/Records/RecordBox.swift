import Foundation
import SealKit
import Synchronization

/// The record that a `CKRecord` stands for, for it and for its encrypted values.
final class RecordBox: Sendable {
    fileprivate struct State {
        var record: SealKit.Record
        /// What was set and is no value of a record, by key: saving the record says so.
        var refusals: [String: Refused] = [:]
        /// Keys that were set since a save began: until one does, all that was set is sent by it.
        var touched: [String: Touch] = [:]
        var isSent = false
        /// Goes up with each key that is set and each save that begins.
        var moment = 0
        /// Of the save whose record this is.
        var taken = 0

        mutating func touch(_ key: String, isEncrypted: Bool) {
            moment += 1
            if isSent { touched[key] = Touch(moment: moment, isEncrypted: isEncrypted) }
            if !refusals.isEmpty { refusals[key] = nil }
        }
    }

    fileprivate struct Touch {
        let moment: Int
        let isEncrypted: Bool
    }

    /// What one save sends.
    struct Sent: Sendable {
        let record: SealKit.Record
        /// Why it will be refused, where something was set that is no value.
        let refusal: SealKitError?
        fileprivate let moment: Int
    }

    fileprivate struct Refused {
        let refusal: Refusal
        let isEncrypted: Bool
    }

    private let state: Mutex<State>
    let recordID: CKRecord.ID
    private var zoneID: SealKit.RecordZone.ID { recordID.sealed.zoneID }

    init(_ record: SealKit.Record, recordID: CKRecord.ID? = nil) {
        self.recordID = recordID ?? CKRecordID(record.recordID)
        state = Mutex(State(record: record))
    }

    private init(_ state: State, recordID: CKRecord.ID) {
        self.state = Mutex(state)
        self.recordID = recordID
    }

    var record: SealKit.Record { state.withLock { $0.record } }

    /// One that changes by itself.
    func copied() -> RecordBox { RecordBox(state.withLock { $0 }, recordID: recordID) }

    // MARK: Fields

    func object(_ key: String, isEncrypted: Bool) -> (any CKRecordValueProtocol & NSObject)? {
        state.withLock { state -> SealKit.Record.Content? in
            isEncrypted
                ? state.record.encryptedValues.value(key).map { .value($0) } : state.record.plainContent(key)
        }?.object(in: zoneID)
    }

    func set(_ object: Any?, _ key: String, isEncrypted: Bool) {
        let content: Result<SealKit.Record.Content?, Refusal> = Result { () throws(Refusal) in
            try object.map { object throws(Refusal) in try SealKit.Record.Content(object, in: zoneID) }
        }
        state.withLock { state in
            state.touch(key, isEncrypted: isEncrypted)
            switch content {
            case .success(let content):
                if isEncrypted, case .asset? = content {
                    state.refuse(key, .sealedAsset, isEncrypted: true)
                } else {
                    state.record.set(content, key, isEncrypted: isEncrypted)
                }
            case .failure(let refusal): state.refuse(key, refusal, isEncrypted: isEncrypted)
            }
        }
    }

    /// - Parameter refusal: of what was set beside the fields; nil for what may be sent.
    func note(_ refusal: Refusal?, of key: String) {
        state.withLock { $0.refusals[key] = refusal.map { Refused(refusal: $0, isEncrypted: true) } }
    }

    func allKeys(isEncrypted: Bool) -> [String] {
        state.withLock { state in
            let encrypted = state.record.encryptedValues.allKeys()
            if isEncrypted { return encrypted }
            return encrypted.isEmpty
                ? state.record.allKeys() : Set(state.record.allKeys()).subtracting(encrypted).sorted()
        }
    }

    func changedKeys(isEncrypted: Bool) -> [String] {
        state.withLock { state in
            if isEncrypted { return state.record.encryptedValues.changedKeys() }
            let encrypted = Set(state.record.encryptedValues.allKeys())
            return state.record.changedKeys().filter { !encrypted.contains($0) }
        }
    }

    var parent: CKRecord.Reference? {
        get {
            record.parent.map {
                CKRecordReference(
                    recordID: CKRecordID(SealKit.Record.ID(recordName: $0.recordName, zoneID: zoneID)), action: .none)
            }
        }
        set {
            let parent: Result<SealKit.Record.Reference?, Refusal> = Result { () throws(Refusal) in
                guard let newValue else { return nil }
                guard newValue.action == .none else { throw .deletingParent }
                return SealKit.Record.Reference(recordName: try newValue.name(in: zoneID))
            }
            state.withLock { state in
                state.touch(Self.parentKey, isEncrypted: false)
                switch parent {
                case .success(let parent): state.record.parent = parent
                case .failure(let refusal):
                    state.refusals[Self.parentKey] = Refused(refusal: refusal, isEncrypted: false)
                }
            }
        }
    }

    /// No field has such a name.
    static let parentKey = "the parent"

    // MARK: Saving

    /// What a save sends now.
    func sent() -> Sent {
        state.withLock { state in
            state.moment += 1
            state.isSent = true
            let refused = state.refusals.min { $0.key < $1.key }
            guard let (key, refusal) = refused else {
                return Sent(record: state.record, refusal: nil, moment: state.moment)
            }
            // A list of two kinds is no value: the record fails as one that was given such a list, with the others of
            // its batch where that is atomic.
            var record = state.record
            record.set(.value(.list([.int64(0), .string("")])), "refused", isEncrypted: refusal.isEncrypted)
            return Sent(record: record, refusal: refusal.refusal.error(key), moment: state.moment)
        }
    }

    /// Takes over what was stored. What the app has set since it was sent stays, to be sent by the next save, also
    /// where that has begun already: it may fail.
    func take(_ stored: SealKit.Record, of sent: Sent) {
        state.withLock { state in
            // A later save was answered first.
            guard sent.moment > state.taken else { return }
            state.taken = sent.moment
            let current = state.record
            state.record = stored
            guard state.moment > sent.moment else {
                (state.touched, state.isSent) = ([:], false)
                return
            }
            state.touched = state.touched.filter { $0.value.moment > sent.moment }
            for (key, touch) in state.touched {
                if key == Self.parentKey {
                    state.record.parent = current.parent
                } else if touch.isEncrypted {
                    state.record.set(current.encryptedValues.value(key).map { .value($0) }, key, isEncrypted: true)
                } else {
                    state.record.set(current.plainContent(key), key, isEncrypted: false)
                }
            }
        }
    }
}

extension RecordBox.State {
    mutating func refuse(_ key: String, _ refusal: Refusal, isEncrypted: Bool) {
        record.set(nil, key, isEncrypted: isEncrypted)
        refusals[key] = RecordBox.Refused(refusal: refusal, isEncrypted: isEncrypted)
    }
}

extension Refusal {
    fileprivate static let sealedAsset = Refusal(
        reason: "is an asset among encrypted values", remedy: "set it on the record itself: assets are sealed anyway")
    fileprivate static let deletingParent = Refusal(
        reason: "is a reference with an action", remedy: "use a reference with the action none")
}

extension SealKit.Record {
    /// What the subscript shows.
    fileprivate func plainContent(_ key: String) -> Content? {
        if let value = plainValue(key) { return .value(value) }
        return (self[key] as Asset?).map { .asset($0) }
    }

    fileprivate mutating func set(_ content: Content?, _ key: String, isEncrypted: Bool) {
        switch content {
        case .value(let value): isEncrypted ? encryptedValues.setValue(key, value) : setPlainValue(key, value)
        case .asset(let asset): self[key] = asset
        case nil: isEncrypted ? encryptedValues.setValue(key, nil) : setPlainValue(key, nil)
        }
    }
}
