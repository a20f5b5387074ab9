import Foundation
import SealLab
import Synchronization
import Testing

@testable import SealKit

/// What the article on assets says: uploads tell how far they are, and records come without their files.
@Suite(.timeLimit(.minutes(60))) struct UploadProgressTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    @Test func uploadsAndDownloadsTellHowFarTheyAre() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = temporary.url.appendingPathComponent("original")
        try pattern(300_000).write(to: file)
        var records = ["a", "b"].map { ann.note(in: zone, "with a file", name: $0) }
        for index in records.indices { records[index]["file"] = Asset(fileURL: file) }
        let steps = Mutex<[(done: Int64, total: Int64)]>([])
        _ = try await ann.own.modifyRecords(saving: records) { sent, total in
            steps.withLock { $0.append((sent, total)) }
        }
        let uploaded = steps.withLock { $0 }
        // Of both files together; it never goes back, and ends with all.
        let total = try #require(uploaded.first?.total)
        #expect(total > 600_000)
        #expect(uploaded.allSatisfy { $0.total == total })
        #expect(uploaded.last?.done == total)
        #expect(zip(uploaded, uploaded.dropFirst()).allSatisfy { $0.done <= $1.done })
        #expect(uploaded.count >= 2)

        steps.withLock { $0 = [] }
        let remote = try await ann.own.fetchingAssets(.onDemand).record(for: records[0].recordID)
        let asset = try #require(remote["file"] as? Asset)
        #expect(asset.fileURL == nil)
        #expect(asset.size == 300_000)
        let copy = temporary.url.appendingPathComponent("copy")
        try await ann.own.download(asset, of: remote.recordID, to: copy) { received, total in
            steps.withLock { $0.append((received, total)) }
        }
        let received = steps.withLock { $0 }
        #expect(try Data(contentsOf: copy) == pattern(300_000))
        #expect(received.last.map { $0.done == $0.total } == true)

        // A file that came meanwhile is replaced only for whoever wants that.
        try Data("somebody's".utf8).write(to: copy)
        let code = await failure { try await ann.own.download(asset, of: remote.recordID, to: copy, replaces: false) }
        #expect(code == .constraintViolation)
        #expect(try Data(contentsOf: copy) == Data("somebody's".utf8))
        try await ann.own.download(asset, of: remote.recordID, to: copy)
        #expect(try Data(contentsOf: copy) == pattern(300_000))
        let other = temporary.url.appendingPathComponent("other")
        try await ann.own.download(asset, of: remote.recordID, to: other, replaces: false)
        #expect(try Data(contentsOf: other) == pattern(300_000))
        let names = try FileManager.default.contentsOfDirectory(atPath: temporary.url.path)
        #expect(!names.contains { $0.contains(".part-") })
    }

    @Test func eachRecordTellsHowFarItsFilesAre() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = temporary.url.appendingPathComponent("original")
        try pattern(300_000).write(to: file)
        var records = ["a", "b", "c"].map { ann.note(in: zone, "with files", name: $0) }
        records[0]["file"] = Asset(fileURL: file)
        records[1]["file"] = Asset(fileURL: file)
        records[1]["attachment"] = Asset(fileURL: file)
        let told = Mutex<[Record.ID: [Double]]>([:])
        let each = RecordProgress { id, fraction in told.withLock { $0[id, default: []].append(fraction) } }
        _ = try await ann.own.modifyRecords(saving: records, perRecordProgress: each)
        let steps = told.withLock { $0 }
        #expect(Set(steps.keys) == Set(records[..<2].map(\.recordID)), "one without a file has nothing to tell")
        for (id, fractions) in steps {
            #expect(fractions.last == 1, "\(id)")
            #expect(fractions == fractions.sorted(), "\(id)")
            #expect(fractions.allSatisfy { 0...1 ~= $0 })
        }
        // Of two files the first is half.
        #expect(steps[records[1].recordID]?.contains(0.5) == true)
    }

    @Test func aRecordIsFetchedWithoutTheFieldOfItsFile() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = temporary.url.appendingPathComponent("original")
        try pattern(1_000).write(to: file)
        var record = ann.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: file)
        try await ann.own.save(record)
        let results = try await ann.own.records(for: [record.recordID], desiredKeys: ["body"])
        var part = try #require(try results[record.recordID]?.get())
        #expect(part.omittedKeys == ["file"])
        #expect(part["file"] == nil)
        // What was not fetched stays as it is when the record is saved.
        part.encryptedValues["body"] = "edited"
        try await ann.own.save(part)
        let asset = try await ann.own.record(for: record.recordID)["file"] as? Asset
        #expect(try Data(contentsOf: try #require(asset?.fileURL)) == pattern(1_000))
    }
}
