import Foundation
import SealCoding
import SealQuery
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// A record that was saved or deleted, parsed when the first subscription asks for more than its type.
final class ChangedRecord {
    let change: RecordChange
    private var parsed: [String: Sealkit_V1_Field]?
    private var read: Query.Subject?
    private var hasWords = false
    private var works: [String: ComparisonWork] = [:]

    init(_ change: RecordChange) { self.change = change }

    /// Its fields now; of a deleted record those it had.
    func fields() throws -> [String: Sealkit_V1_Field] {
        if let parsed { return parsed }
        let bytes = change.kind == .deleted ? change.formerFields : change.fields
        let fields = try Sealkit_V1_Record(serializedBytes: bytes).fields
        let byName = Dictionary(fields.map { ($0.name, $0) }) { first, _ in first }
        parsed = byName
        return byName
    }

    /// As queries see it: system fields and plain values.
    func subject() throws -> Query.Subject {
        if let read { return read }
        let subject = try makeSubject()
        read = subject
        return subject
    }

    /// The same; its words are read once, however many subscriptions ask for some.
    func subjectWithWords() throws -> Query.Subject {
        var subject = try subject()
        guard !hasWords else { return subject }
        subject.keepWords()
        hasWords = true
        read = subject
        return subject
    }

    /// What comparing something with a field's value costs: found out once, since lists and texts may be long.
    func work(of key: String) throws -> ComparisonWork {
        if let work = works[key] { return work }
        let work = ComparisonWork(try subject().value(key))
        works[key] = work
        return work
    }

    private func makeSubject() throws -> Query.Subject {
        var values: [String: Value] = [:]
        for (name, field) in try fields() {
            if case .plain(let value) = field.content { values[name] = try Value(value) }
        }
        var subject = Query.Subject(
            recordType: change.type, recordName: change.name, created: change.created, modified: change.modified,
            creator: change.creator.recordName, author: change.author.recordName, fields: values)
        subject.knownWords = change.words
        return subject
    }
}

/// A query subscription, and what it says of a record.
struct Subscriber {
    let owner: Int64
    let environment: Int64
    let database: Int64
    let message: Sealkit_V1_Subscription
    let firesOn: SubscriptionRow.FiresOn
    private let predicate: Query.Predicate
    private let comparing: PredicateWork

    /// Nil when the predicate cannot be read.
    init?(owner: Int64, environment: Int64, database: Int64, message: Sealkit_V1_Subscription) {
        guard let query = try? message.query() else { return nil }
        (self.owner, self.environment, self.database, self.message) = (owner, environment, database, message)
        firesOn = SubscriptionRow.FiresOn(rawValue: Int64(message.firesOn))
        predicate = query.predicate
        comparing = PredicateWork(query.predicate)
    }

    var firesOnce: Bool { firesOn.contains(.once) }

    private func subject(of record: ChangedRecord) throws -> Query.Subject {
        try comparing.asksForWords ? record.subjectWithWords() : record.subject()
    }

    /// What finding out whether it matches costs (`ComparisonWork`).
    func work(with record: ChangedRecord) throws -> Int {
        guard record.change.type == message.recordType else { return 1 }
        return try comparing.of { key in try record.work(of: key) }
    }

    /// What is kept for the notification; nil when the subscription does not fire.
    func payload(
        for record: ChangedRecord, reason: (code: UInt32, event: SubscriptionRow.FiresOn)
    ) throws -> [UInt8]? {
        guard record.change.type == message.recordType, firesOn.contains(reason.event),
            try predicate.conditions.isEmpty || predicate.matches(subject(of: record))
        else { return nil }
        var payload = Sealkit_V1_Notification()
        payload.recordType = record.change.type
        payload.reason = reason.code
        if !message.notificationInfo.desiredKeys.isEmpty {
            (payload.fields, payload.pruned) = NotificationFields.pick(
                message.notificationInfo.desiredKeys, from: try record.fields())
        }
        // The subscription itself will be gone when this is read.
        if firesOnce, message.hasNotificationInfo { payload.notificationInfo = message.notificationInfo }
        return try payload.serializedBytes()
    }

    /// It has fired for the only time, and goes; what it gave rise to stays.
    func end(in connection: any SQLConnection) throws {
        try connection.execute(
            "DELETE FROM subscription WHERE owner = $1 AND environment = $2 AND database = $3 AND id = $4",
            [.integer(owner), .integer(environment), .integer(database), .text(message.subscriptionID)])
    }
}
