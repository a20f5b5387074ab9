import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

extension ErrorCodesTests {
    // MARK: Assets

    @Test func assetFileNotFound() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var note = ann.note(in: zone, "x")
        note["file"] = Asset(fileURL: folder.appendingPathComponent("absent"))
        #expect(await failure { try await ann.own.save(note) } == .assetFileNotFound)
        #expect(await failure { _ = try await ann.own.record(for: note.recordID) } == .unknownItem)
    }

    @Test(arguments: [true, false]) func assetFileModified(grows: Bool) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = folder.appendingPathComponent("changing")
        try pattern(8_000_000).write(to: file)
        var note = ann.note(in: zone, "x")
        note["file"] = Asset(fileURL: file)
        let handle = try FileHandle(forUpdating: file)
        let results = await failure {
            let results = try await ann.own.modifyRecords(saving: [note]) { _, _ in
                if grows {
                    _ = try? handle.seekToEnd()
                    try? handle.write(contentsOf: Data("more".utf8))
                } else {
                    try? handle.truncate(atOffset: 100)
                }
            }
            _ = try results.saveResults[note.recordID]?.get()
        }
        #expect(results == .assetFileModified)
        #expect(await failure { _ = try await ann.own.record(for: note.recordID) } == .unknownItem)
    }

    @Test func assetNotAvailable() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        let file = folder.appendingPathComponent("original")
        try pattern(200_000).write(to: file)
        var note = ann.note(in: zone, "x")
        note["file"] = Asset(fileURL: file)
        note = try await ann.own.save(note)
        let blobs = try #require(
            FileManager.default.enumerator(
                at: server.dataFolder.appendingPathComponent("blobs"), includingPropertiesForKeys: [.isRegularFileKey]))
        for case let blob as URL in blobs
        where (try? blob.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true {
            try FileManager.default.removeItem(at: blob)
        }
        // The record fails, never a part of it.
        let results = try await ann.own.records(for: [note.recordID])
        #expect(results[note.recordID]?.failureCode == .assetNotAvailable)
        #expect(try await ann.own.fetchingAssets(.onDemand).record(for: note.recordID).encryptedValues["body"] == "x")
    }
}
