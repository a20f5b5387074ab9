import SealKit
import SealLab
import SealStatements

/// A device of one of the model's people: the SDK's side and the model's, kept alike.
struct ModelDevice {
    struct Key: Hashable {
        let zone: String
        let name: String
    }

    /// The same record twice: as the SDK has it and as the model has it.
    struct Copy {
        var record: Record
        var draft: ModelStore.Draft
    }

    typealias Token = (sdk: ServerChangeToken, model: ModelToken)

    /// What an app has beside the trust store.
    private struct Kept {
        var copies: [Key: Copy] = [:]
        var zoneTokens: [String: [Token]] = [:]
        var databaseTokens: [Token] = []
    }

    /// Whose device it is: 0 owns all zones, the others take part in shares of them.
    let person: Int
    private(set) var container: Container
    private let account: Account
    private let owner: String
    private var trust: ModelTrust
    var copies: [Key: Copy] = [:]
    var zoneTokens: [String: [Token]] = [:]
    var databaseTokens: [Token] = []
    private var kept: Kept?

    init(person: Int, _ account: Account, owner: String) throws {
        self.person = person
        self.account = account
        self.owner = owner
        trust = try ModelTrust()
        container = try Container(ModelRun.container, account: account, trust: trust.store())
    }

    /// Keeps a copy of what it has verified and of what the app has, to start from later.
    mutating func keep() throws {
        try trust.keep()
        kept = Kept(copies: copies, zoneTokens: zoneTokens, databaseTokens: databaseTokens)
    }

    /// Goes on knowing what it kept, as after a backup was restored.
    /// - Parameter withCopies: otherwise the app has its newest copies and tokens still.
    /// - Returns: false where it has kept nothing.
    mutating func goBack(withCopies: Bool) throws -> Bool {
        guard let kept else { return false }
        try trust.goBack(toNothing: false)
        try restart(with: withCopies ? kept : nil)
        return true
    }

    /// Goes on knowing nothing.
    mutating func lose(withCopies: Bool) throws {
        try trust.goBack(toNothing: true)
        try restart(with: withCopies ? Kept() : nil)
    }

    private mutating func restart(with kept: Kept?) throws {
        container = try Container(ModelRun.container, account: account, trust: trust.store())
        guard let kept else { return }
        (copies, zoneTokens, databaseTokens) = (kept.copies, kept.zoneTokens, kept.databaseTokens)
    }

    /// The one that has the zones.
    var database: Database { person == 0 ? container.privateDatabase : container.sharedDatabase }

    func zoneID(_ zone: String) -> RecordZone.ID {
        person == 0 ? RecordZone.ID(zoneName: zone) : RecordZone.ID(zoneName: zone, ownerName: owner)
    }

    func recordID(_ name: String, _ zone: String) -> Record.ID { Record.ID(recordName: name, zoneID: zoneID(zone)) }

    /// In a fixed order, so that the same choices find the same copies.
    var keys: [Key] { copies.keys.sorted { ($0.zone, $0.name) < ($1.zone, $1.name) } }
}

/// The fields of the model's records: two plain ones and two sealed ones, each with its way to carry a small number,
/// and a reference to the record of that number, to go with it.
enum ModelFields {
    static let keys = ["a", "b", "go", "x", "y"]
    static let sealed: Set<String> = ["x", "y"]

    static func random(for key: String, _ random: inout SeededRandom) -> Int {
        random.below(key == "go" ? ModelRun.recordNames.count : 1_000)
    }

    /// What a record goes with.
    static func target(of fields: [String: Int]) -> String? { fields["go"].map { ModelRun.recordNames[$0] } }

    static func set(_ key: String, _ value: Int?, in record: inout Record) {
        switch key {
        case "a": record["a"] = value
        case "b": record["b"] = value.map { "value \($0)" }
        case "go":
            record["go"] = value.map { Record.Reference(recordName: ModelRun.recordNames[$0], action: .deleteSelf) }
        case "x": record.encryptedValues["x"] = value.map { "value \($0)" }
        default: record.encryptedValues["y"] = value
        }
    }

    /// - Throws: when a field holds something that nobody wrote.
    static func values(_ record: Record) throws(Finding) -> [String: Int] {
        var values: [String: Int] = [:]
        for key in record.allKeys() {
            let number: Int?
            switch key {
            case "a": number = record["a"]
            case "b": number = (record["b"] as String?).flatMap(parse)
            case "go":
                let reference: Record.Reference? = record["go"]
                number = reference.flatMap {
                    $0.action == .deleteSelf ? ModelRun.recordNames.firstIndex(of: $0.recordName) : nil
                }
            case "x": number = (record.encryptedValues["x"] as String?).flatMap(parse)
            case "y": number = record.encryptedValues["y"]
            default: number = nil
            }
            guard let number else {
                throw Finding("field \(key) of \(record.recordID.recordName) holds what nobody wrote")
            }
            values[key] = number
        }
        return values
    }

    private static func parse(_ text: String) -> Int? { text.hasPrefix("value ") ? Int(text.dropFirst(6)) : nil }
}

extension Record {
    /// - Parameter desired: the keys that were asked for; nil for all.
    func checkEqual(_ stored: ModelStore.Stored, desired: [String]? = nil) throws(Finding) {
        let wanted = desired.map { keys in stored.fields.filter { keys.contains($0.key) } } ?? stored.fields
        let values = try ModelFields.values(self)
        try check(
            values == wanted,
            "\(recordID.recordName) has \(values.sorted { $0.key < $1.key }), not \(wanted.sorted { $0.key < $1.key })")
        let left = stored.fields.keys.filter { wanted[$0] == nil }.sorted()
        try check(omittedKeys == left, "\(recordID.recordName) leaves out \(omittedKeys), not \(left)")
        try check(recordType == stored.type, "\(recordID.recordName) is of another type")
        try check(
            parent?.recordName == stored.parent, "\(recordID.recordName) has parent \(parent?.recordName ?? "none")")
        let root = share?.recordName
        try check(root == stored.rootOf, "\(recordID.recordName) is the root of \(root ?? "no share")")
    }

    func copy(_ stored: ModelStore.Stored, life: Int) -> ModelDevice.Copy {
        ModelDevice.Copy(
            record: self,
            draft: ModelStore.Draft(
                name: recordID.recordName, type: stored.type, fields: stored.fields, changed: [],
                omitted: Set(omittedKeys),
                parent: stored.parent,
                base: ModelStore.Base(
                    version: stored.version, life: life, type: stored.type, parent: stored.parent, share: stored.share,
                    rootOf: stored.rootOf, creator: stored.creator, fields: stored.fields, marks: stored.marks,
                    omitted: Set(omittedKeys))))
    }
}
