import Foundation
import SealLab
import Testing

@testable import SealKit

/// Files of long-lived operations: what has gone one way or the other does not go again.
@Suite(.timeLimit(.minutes(60))) struct LongLivedAssetTests {
    private static let part = 128 * 65_536

    private func path(_ step: String) -> String { String(step.split(separator: " ").last ?? "") }

    /// Requests for uploads, without their ids.
    private func uploads(_ fate: Fate) -> [String] {
        fate.steps.filter { $0.hasPrefix("request") && $0.contains("/assets/") }.compactMap {
            let words = path($0).split(separator: "/").map(String.init)
            return words.dropLast().last == "parts" ? "parts/\(words[words.count - 1])" : words.last
        }
    }

    /// The ids that parts were sent under.
    private func ids(_ fates: [Fate]) -> Set<String> {
        Set(
            fates.flatMap(\.steps).filter { $0.contains("/parts/") }.map {
                let words = path($0).split(separator: "/")
                return String(words[words.count - 3])
            })
    }

    private func goOn(_ container: Container) async throws -> Record? {
        guard case .modifyRecords(let operation)? = try await container.longLivedOperations.first else { return nil }
        let saved = try await operation.results().saveResults.values.first?.get()
        try await operation.end()
        return saved
    }

    private func content(of id: Record.ID, _ database: Database) async throws -> Data {
        let asset: Asset? = try await database.record(for: id)["file"]
        return try Data(contentsOf: try #require(asset?.fileURL))
    }

    private static let all = ["finish", "begin", "parts/0", "parts/1", "finish"]
    private static let second = ["finish", "begin", "parts/1", "finish"]

    /// The step that the process does not survive, and what the next one may send: the second part is on its way before
    /// the first one's answer is there.
    static let ends: [(String, [[String]])] = [
        ("request begin", [all]),
        ("answer begin", [all]),
        ("request parts/0", [all]),
        ("answer parts/0", [second, ["finish"]]),
        ("request parts/1", [all, second]),
        ("answer parts/1", [["finish"], ["finish", "begin", "parts/0", "finish"]]),
        ("request finish", [["finish"]]),
        ("answer finish", [["finish"]]),
        ("request records/modify", [[]]),
        ("answer records/modify", [[]]),
    ]

    @Test(arguments: ends, [false, true]) func anUploadGoesOnWhereItWasCutOff(
        _ end: (String, [[String]]), _ isPublic: Bool
    ) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("film")
        let bytes = pattern(Self.part + 100_000)
        try bytes.write(to: file)
        var record =
            isPublic
            ? Record(recordType: "Post", recordID: Record.ID(recordName: UUID().uuidString))
            : ann.note(in: zone, "with a film")
        record["file"] = Asset(fileURL: file)
        let draft = record
        let words = end.0.split(separator: " ").map(String.init)
        let fate = Fate(dyingAt: { $0.hasPrefix(words[0]) && $0.hasSuffix(words[1]) })
        _ = try await device.run(fate) { container in
            _ = try await container.database(with: isPublic ? .public : .private)
                .beginModifyingRecords(saving: [draft]).results()
        }
        #expect(fate.isDead)
        let next = Fate()
        let saved = try await device.run(next) { try await goOn($0) }
        #expect(saved??.recordID == draft.recordID)
        let sent = uploads(next)
        #expect(end.1.contains(sent), "after \(end.0): \(sent)")
        #expect(ids([fate, next]).count <= 1, "under one id, and so one key")
        #expect(try await content(of: draft.recordID, isPublic ? ann.container.publicDatabase : ann.own) == bytes)
    }

    /// What keeps an upload from going on for now is nobody's outcome: the next call goes on with it.
    @Test func anUploadThatTheNetworkEndsIsGoneOnWith() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/parts/1", Array(repeating: .request, count: 10))
        let device = try MortalDevice(ann, transport: network)
        let file = device.folder.url.appendingPathComponent("film")
        let bytes = pattern(Self.part + 100_000)
        try bytes.write(to: file)
        var record = ann.note(in: zone, "with a film")
        record["file"] = Asset(fileURL: file)
        let draft = record
        let isSaved = try await device.run { container in
            let operation = try await container.privateDatabase.beginModifyingRecords(saving: [draft])
            #expect(await failure { _ = try await operation.results() } == .networkFailure)
            return try await operation.results().saveResults[draft.recordID]?.isSuccess
        }
        #expect(isSaved == true)
        #expect(try await content(of: draft.recordID, ann.own) == bytes)
    }

    /// Attack 63, over the end of a process: under a file key that other bytes were sent with nothing goes any more.
    @Test func otherBytesGoUnderAnotherKey() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("film")
        var bytes = pattern(Self.part + 100_000)
        try bytes.write(to: file)
        var record = ann.note(in: zone, "with a film")
        record["file"] = Asset(fileURL: file)
        let draft = record
        let fate = Fate(dyingAt: { $0.hasPrefix("answer") && $0.hasSuffix("parts/0") })
        _ = try await device.run(fate) { container in
            _ = try await container.privateDatabase.beginModifyingRecords(saving: [draft]).results()
        }
        // Of the part that was not sent: the one that was is the same.
        bytes[Self.part + 50_000] ^= 1
        try bytes.write(to: file)
        let next = Fate()
        _ = try await device.run(next) { try await goOn($0) }
        let (first, second) = (ids([fate]), ids([next]))
        #expect(first.count == 1)
        #expect(second.count == 1)
        #expect(first != second)
        #expect(uploads(next) == ["abandon", "begin", "parts/0", "parts/1", "finish"])
        #expect(try await content(of: draft.recordID, ann.own) == bytes)
    }

    /// Small files go in one request each, and not again once the server has them.
    @Test func whatTheServerHasIsNotSentAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        var records: [Record] = []
        for index in 0..<3 {
            let file = device.folder.url.appendingPathComponent("file-\(index)")
            try pattern(1_000 + index).write(to: file)
            var record = ann.note(in: zone, "with a file", name: "note-\(index)")
            record["file"] = Asset(fileURL: file)
            records.append(record)
        }
        let saving = records
        let begun = LockedValue(0)
        let fate = Fate(dyingAt: { step in
            guard step.hasPrefix("request"), step.contains("/assets/") else { return false }
            begun.change { $0 += 1 }
            return begun.value == 3
        })
        _ = try await device.run(fate) { container in
            _ = try await container.privateDatabase.beginModifyingRecords(saving: saving).results()
        }
        #expect(uploads(fate).count == 3)
        let next = Fate()
        _ = try await device.run(next) { try await goOn($0) }
        #expect(uploads(next).count == 1, "the third alone")
        for (index, record) in saving.enumerated() {
            #expect(try await content(of: record.recordID, ann.own) == pattern(1_000 + index))
        }
    }

    /// A server keeps what no record names for a day: after that nobody relies on it, and the file is sent again.
    @Test func afterADayWhatNoRecordNamesIsSentAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("file")
        try pattern(1_000).write(to: file)
        var record = ann.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: file)
        let draft = record
        let fate = Fate(dyingAt: { $0.hasPrefix("request") && $0.hasSuffix("records/modify") })
        _ = try await device.run(fate) { container in
            _ = try await container.privateDatabase.recordZone(for: zone)
            try await WallClock.$offset.withValue(-21 * 3_600_000_000) {
                _ = try await container.privateDatabase.beginModifyingRecords(saving: [draft]).results()
            }
        }
        #expect(fate.isDead)
        #expect(uploads(fate).count == 1)
        let next = Fate()
        let saved = try await device.run(next) { try await goOn($0) }
        #expect(saved??.recordID == draft.recordID)
        #expect(uploads(next).count == 1)
        #expect(try await content(of: draft.recordID, ann.own) == pattern(1_000))
    }

    private func saved(_ bytes: Data, _ person: Person, _ database: Database, in zone: RecordZone.ID) async throws
        -> Record
    {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("film")
        try bytes.write(to: file)
        var record =
            database.databaseScope == .public
            ? Record(recordType: "Post", recordID: Record.ID(recordName: UUID().uuidString))
            : person.note(in: zone, "with a film")
        record["file"] = Asset(fileURL: file)
        return try await database.save(record)
    }

    private func takeUp(_ container: Container) async throws -> URL? {
        guard case .download(let operation)? = try await container.longLivedOperations.first else { return nil }
        let file = try await operation.result()
        try await operation.end()
        return file
    }

    /// Of a file of 3 MB, the first megabyte comes once.
    @Test(arguments: [false, true]) func aDownloadGoesOnWhereItWasCutOff(_ isPublic: Bool) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let bytes = pattern(3_000_000)
        let record = try await saved(bytes, ann, isPublic ? ann.container.publicDatabase : ann.own, in: zone)
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("copy")
        let fate = Fate(lastByte: 1_500_000)
        _ = try await device.run(fate) { try await self.download(record, $0, isPublic, to: file) }
        #expect(fate.isDead)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let next = Fate()
        #expect(try await device.run(next) { try await takeUp($0) } == file)
        #expect(next.downloaded < 2_200_000, "of \(bytes.count), after \(fate.downloaded)")
        #expect(try Data(contentsOf: file) == bytes)
        // Nothing else is left of it.
        let names = try FileManager.default.contentsOfDirectory(atPath: device.folder.url.path)
        #expect(names.filter { $0.contains("sealkit-") }.isEmpty)
        #expect(try await device.run { try await $0.longLivedOperations.count } == 0)
    }

    private func download(_ record: Record, _ container: Container, _ isPublic: Bool, to file: URL) async throws {
        let database = container.database(with: isPublic ? .public : .private).fetchingAssets(.onDemand)
        let asset: Asset? = try await database.record(for: record.recordID)["file"]
        _ = try await database.beginDownload(try #require(asset), of: record.recordID, to: file).result()
    }

    /// What lies on the disk is not believed.
    @Test(arguments: [false, true]) func whatWasChangedMeanwhileIsFetchedAgain(_ isPublic: Bool) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let bytes = pattern(1_000_000)
        let record = try await saved(bytes, ann, isPublic ? ann.container.publicDatabase : ann.own, in: zone)
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("copy")
        _ = try await device.run(Fate(lastByte: 600_000)) { try await self.download(record, $0, isPublic, to: file) }
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: device.folder.url.path).first {
                $0.contains("sealkit-")
            })
        let part = device.folder.url.appendingPathComponent(name)
        var came = try Data(contentsOf: part)
        #expect(came.count > 300_000)
        came[200_000] ^= 1
        try came.write(to: part)
        // Of public bytes only the whole shows that: all of them are fetched again. It says nothing of the server.
        #expect(try await device.run { try await takeUp($0) } == file)
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try await device.run { try await $0.violations().count } == 0)
    }

    /// Whoever gives a download up leaves nothing of it on the disk.
    @Test func whatCameOfADownloadThatIsGivenUpGoes() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let record = try await saved(pattern(1_000_000), ann, ann.own, in: zone)
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("copy")
        func parts() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: device.folder.url.path).filter {
                $0.contains("sealkit-")
            }
        }
        _ = try await device.run(Fate(lastByte: 600_000)) { try await self.download(record, $0, false, to: file) }
        #expect(try parts().count == 1)
        let left = try await device.run { container in
            guard case .download(let operation)? = try await container.longLivedOperations.first else { return -1 }
            try await operation.end()
            return try await container.longLivedOperations.count
        }
        #expect(left == 0)
        #expect(try parts().isEmpty)
    }

    /// The process was ended between the last byte and its note: the file is there, and is not fetched again.
    @Test func aFileThatIsThereIsNotFetchedAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let bytes = pattern(300_000)
        let record = try await saved(bytes, ann, ann.own, in: zone)
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("copy")
        _ = try await device.run { try await self.download(record, $0, false, to: file) }
        let next = Fate()
        #expect(try await device.run(next) { try await takeUp($0) } == file)
        #expect(next.downloaded == 0)
    }

    /// Plaintext of who is signed in no more.
    @Test func signingOutRemovesWhatHasComeOfADownload() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let record = try await saved(pattern(3_000_000), ann, ann.own, in: zone)
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("copy")
        func parts() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: device.folder.url.path).filter {
                $0.contains("sealkit-")
            }
        }
        _ = try await device.run(Fate(lastByte: 1_500_000)) { try await self.download(record, $0, false, to: file) }
        #expect(try parts().count == 1)
        let accounts = AccountProvider()
        let journal = try OperationJournal(file: device.journalFile)
        accounts.signIn(ann.account, journal: journal)
        #expect(try parts().count == 1)
        accounts.signOut()
        #expect(try parts().isEmpty)
        #expect(try await journal.operations(of: ann.account.keys.rootKey).isEmpty)
    }

    /// Also where somebody else goes on with the same journal.
    @Test func anotherAccountRemovesWhatHasComeOfADownload() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let record = try await saved(pattern(3_000_000), ann, ann.own, in: zone)
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("copy")
        _ = try await device.run(Fate(lastByte: 1_500_000)) { try await self.download(record, $0, false, to: file) }
        let accounts = AccountProvider()
        let journal = try OperationJournal(file: device.journalFile)
        accounts.signIn(ann.account, journal: journal)
        accounts.signIn(bob.account, journal: journal)
        let names = try FileManager.default.contentsOfDirectory(atPath: device.folder.url.path)
        #expect(names.filter { $0.contains("sealkit-") }.isEmpty)
        #expect(try await journal.operations(of: ann.account.keys.rootKey).isEmpty)
    }
}
