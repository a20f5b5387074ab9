@testable import CloudKit
import SealKit
import SealKitTesting
import Synchronization
import Testing

/// The set-up of this suite, and the one place of it that knows SealKit: a server of the process, and people's
/// accounts.
struct Cloud {
    private let server: TestServer

    /// Somebody's device, as an app sees it.
    func container(of name: String) async throws -> CKContainer { try await device(of: name).container }

    func device(of name: String) async throws -> Device { Device(try await server.account(named: name)) }

    struct Device {
        private let device: TestDevice
        fileprivate init(_ device: TestDevice) { self.device = device }

        var container: CKContainer {
            CKContainer(identifier: device.container.containerIdentifier, setup: setup)
        }

        var setup: CKContainer.Setup {
            CKContainer.Setup(account: .provider(device.accounts), containerIdentifier: "org.example.app")
        }

        /// Another device of the same person.
        func another(named name: String = "other") async throws -> Device {
            Device(try await device.anotherDevice(named: name))
        }

        /// Ends a zone as an account does whose keys were given up, or as a server says it of any other end.
        func deleteZone(_ name: String, sayingReset: Bool) async throws {
            try await device.container.privateDatabase.deleteRecordZone(
                withID: RecordZone.ID(zoneName: name), reason: sayingReset ? .encryptedDataReset : .deleted)
        }

        /// All keys of the account are lost, and this is the same user's new one.
        func signIn(as new: Device, replacing user: CKRecord.ID) {
            device.accounts.signIn(
                new.device.account, trust: new.device.trust,
                replacing: [SealKit.Record.ID(recordName: user.recordName)])
        }

        /// What the server, or the way to it, does from now on.
        /// - Returns: what takes it away again.
        @discardableResult
        func inject(_ fault: ServerFault) -> TestNetwork.Injection { device.network.inject(fault) }

        /// Long-lived operations are kept there from now on.
        /// - Parameter writing: runs before each change of the file, which fails as a full disk does where it throws.
        func keepOperations(in file: URL, writing: @escaping @Sendable () throws -> Void = {}) throws {
            let journal = try OperationJournal(file: file) { moment throws(SealKitError) in
                guard moment == .before else { return }
                do { try writing() } catch { throw SealKitError(.storageFull, "\(error)") }
            }
            device.accounts.signIn(device.account, trust: device.trust, journal: journal)
        }

        /// What a process that was ended has begun: a record that is to be saved, and one that is to be fetched.
        /// - Parameter configuration: of the one that saves.
        /// - Returns: their IDs, as CloudKit writes them.
        func leaveBegun(
            saving name: String, fetching other: String, in zone: CKRecordZone.ID,
            _ configuration: CKOperationConfiguration? = nil
        ) async throws -> [String] {
            let zoneID = RecordZone.ID(zoneName: zone.zoneName)
            var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zoneID))
            record["title"] = "kept"
            let database = device.container.privateDatabase
            let saving = try await database.configuredWith(configuration: configuration?.sealed) { database in
                try await database.beginModifyingRecords(saving: [record]).operationID
            }
            let fetching = try await database.beginFetchingRecords(
                for: [Record.ID(recordName: other, zoneID: zoneID)]
            ).operationID
            return try [saving, fetching].map { try #require(CKContainer.operationID($0)) }
        }

        /// A process does what one of them is about, and ends before it has told anybody.
        func finish(_ id: String) async throws {
            for case .modifyRecords(let operation) in try await device.container.longLivedOperations
            where CKContainer.operationID(operation.operationID) == id {
                _ = try await operation.results()
            }
        }

        /// The server gives a record's first sealed field with another bit.
        func alter(_ id: CKRecord.ID) {
            let zoneID = RecordZone.ID(zoneName: id.zoneID.zoneName)
            inject(.flippedBit(in: Record.ID(recordName: id.recordName, zoneID: zoneID)))
        }

        /// The network is gone whenever an asset is asked for.
        /// - Returns: what brings it back.
        func loseAssets() -> () -> Void {
            let loss = inject(
                ServerFault(arriving: { path throws(SealKitError) in
                    if path.contains("/assets/") { throw SealKitError(.networkFailure, "the network is gone") }
                }))
            return { loss.remove() }
        }

        /// The network is gone from the second call on that is made of a kind.
        /// - Parameter call: how the paths of that kind end.
        @discardableResult
        func loseNetwork(atSecond call: String) -> TestNetwork.Injection {
            let calls = Mutex(0)
            return inject(
                ServerFault(arriving: { path throws(SealKitError) in
                    let count = calls.withLock { calls in
                        if path.hasSuffix(call) { calls += 1 }
                        return calls
                    }
                    if count > 1 { throw SealKitError(.networkFailure, "the network is gone") }
                }))
        }

        func signOut() { device.accounts.signOut() }
        func lock() { device.accounts.lock() }
        func signIn() { device.accounts.signIn(device.account, trust: device.trust) }
        func signIn(as other: Device) { device.accounts.signIn(other.device.account, trust: other.device.trust) }
    }

    /// The code of the newest message that was sent to an address.
    func code(sentTo address: String) async throws -> String { try await server.mailbox(for: address).code() }

    static func run(_ body: (Cloud) async throws -> Void) async throws {
        try await TestServer.run { server in try await body(Cloud(server: server)) }
    }

    /// One account and its private database, with a zone of its own.
    static func runNotes(_ body: (CKDatabase, CKRecordZone.ID) async throws -> Void) async throws {
        try await run { cloud in
            let database = try await cloud.container(of: "ann").privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
            try await body(database, zone.zoneID)
        }
    }
}

/// Expects an error of CloudKit's with this code.
@discardableResult
func expectFailure(
    _ code: CKError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> CKError? {
    do {
        try await body()
        Issue.record("nothing failed", sourceLocation: sourceLocation)
        return nil
    } catch let error as CKError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
        return nil
    }
}

extension Result where Failure == any Error {
    /// The code of a failure of CloudKit's.
    var code: CKError.Code? { if case .failure(let error as CKError) = self { error.code } else { nil } }
}

extension CKRecord {
    static func note(_ name: String, in zoneID: CKRecordZone.ID) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }
}

/// What blocks said, in their order.
final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

/// What there is in the end; a minute at most.
func eventually<Value>(_ body: @Sendable () -> Value?) async throws -> Value {
    for _ in 0..<3_000 {
        if let value = body() { return value }
        try await Task.sleep(for: .milliseconds(20))
    }
    throw CKError(.serverResponseLost)
}
