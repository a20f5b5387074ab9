import Foundation
import SealPrimitives
import SealStatements

/// What an operation is asked to do, and where: the row that it begins with.
struct JournaledInput: Sendable {
    enum Content: Sendable {
        case modification(saving: [Record], deleting: [Record.ID], Database.SavePolicy, isAtomic: Bool)
        case download(Asset.Remote, to: URL)
        case fetch([Record.ID], desiredKeys: [String]?)
    }

    static let name = "input"
    /// One that is older says nothing of the configuration.
    private static let versions: ClosedRange<UInt8> = 1...2

    let container: String
    let environment: SealStatements.Environment
    let scope: Database.Scope
    /// Microseconds since 1970.
    let started: Int64
    /// What the call that began it went by; nil for CloudKit's defaults.
    let configuration: OperationConfiguration?
    let content: Content

    func bytes() throws(SealError) -> [UInt8] {
        var writer = CanonicalWriter(capacity: 4096)
        writer.number(Self.versions.upperBound)
        writer.string(container)
        writer.number(environment.rawValue)
        writer.number(UInt8(scope.rawValue))
        writer.time(started)
        writer.flag(configuration != nil)
        if let configuration { writer.configuration(configuration) }
        switch content {
        case .modification(let saving, let deleting, let policy, let isAtomic):
            writer.number(UInt8(1))
            writer.number(UInt8(policy.rawValue))
            writer.flag(isAtomic)
            writer.number(UInt32(saving.count))
            for record in saving { try writer.record(record) }
            writer.number(UInt32(deleting.count))
            for id in deleting { writer.recordID(id) }
        case .download(let remote, let file):
            writer.number(UInt8(2))
            writer.remote(remote)
            writer.string(file.path)
        case .fetch(let ids, let desiredKeys):
            writer.number(UInt8(3))
            writer.number(UInt32(ids.count))
            for id in ids { writer.recordID(id) }
            writer.flag(desiredKeys != nil)
            writer.number(UInt32(desiredKeys?.count ?? 0))
            for key in desiredKeys ?? [] { writer.string(key) }
        }
        return writer.bytes
    }

    init(
        container: String, environment: SealStatements.Environment, scope: Database.Scope, started: Int64,
        configuration: OperationConfiguration?, content: Content
    ) {
        (self.container, self.environment, self.scope) = (container, environment, scope)
        (self.started, self.configuration, self.content) = (started, configuration, content)
    }

    /// - Throws: `malformed`; `unsupported` for what a newer version has written.
    init(_ bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        let version = try reader.byte()
        guard Self.versions.contains(version) else { throw .unsupported }
        container = try reader.text()
        guard let environment = SealStatements.Environment(rawValue: try reader.number()),
            let scope = Database.Scope(rawValue: Int(try reader.byte()))
        else { throw .malformed }
        (self.environment, self.scope) = (environment, scope)
        started = try reader.number()
        let isConfigured = version > 1 ? try reader.flag() : false
        configuration = isConfigured ? try reader.configuration() : nil
        switch try reader.byte() {
        case 1:
            guard let policy = Database.SavePolicy(rawValue: Int(try reader.byte())) else { throw .malformed }
            let isAtomic = try reader.flag()
            var saving: [Record] = []
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 16)) { saving.append(try reader.record()) }
            var deleting: [Record.ID] = []
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 12)) { deleting.append(try reader.recordID()) }
            content = .modification(saving: saving, deleting: deleting, policy, isAtomic: isAtomic)
        case 2:
            let remote = try reader.remote()
            content = .download(remote, to: URL(fileURLWithPath: try reader.text()))
        case 3:
            var ids: [Record.ID] = []
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 12)) { ids.append(try reader.recordID()) }
            let isChosen = try reader.flag()
            var keys: [String] = []
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 4)) { keys.append(try reader.text()) }
            content = .fetch(ids, desiredKeys: isChosen ? keys : nil)
        default: throw .unsupported
        }
        try reader.finish()
    }
}
