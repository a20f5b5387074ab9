import Foundation
import SealKit

/// One thing to do. Each field knows when it was changed, so that two devices which have both changed the item agree on
/// every field of it, whichever of them merges, and in whatever order.
public struct TodoItem: Codable, Sendable, Equatable {
    public struct Field<Value: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
        public private(set) var value: Value
        public private(set) var changed: Date

        init(_ value: Value, changed: Date) { (self.value, self.changed) = (value, changed) }

        /// The later change wins, and of two at the same moment the one that reads greater: any rule does, if it is one
        /// for all.
        mutating func merge(_ other: Self) {
            if (other.changed, "\(other.value)") > (changed, "\(value)") { self = other }
        }
    }

    public var title: Field<String>
    public var isDone: Field<Bool>

    init(title: String, at time: Date) {
        self.title = Field(title, changed: time)
        isDone = Field(false, changed: time)
    }

    mutating func merge(_ other: Self) {
        title.merge(other.title)
        isDone.merge(other.isDone)
    }
}

extension TodoItem {
    static let recordType = "Todo"

    /// Nil for what another version of the app, or another app, has saved under this type.
    init?(record: Record) {
        let values = record.encryptedValues
        guard let title = values["title"] as? String, let titled = values["titleChanged"] as? Date,
            let isDone = values["isDone"] as? Bool, let done = values["isDoneChanged"] as? Date
        else { return nil }
        self.title = Field(title, changed: titled)
        self.isDone = Field(isDone, changed: done)
    }

    /// Everything is sealed: the server sees that there are items, and how many, and not what they say.
    func write(to record: inout Record) {
        record.encryptedValues["title"] = title.value
        record.encryptedValues["titleChanged"] = title.changed
        record.encryptedValues["isDone"] = isDone.value
        record.encryptedValues["isDoneChanged"] = isDone.changed
    }
}
