import Foundation
import SealPrimitives
import SealSystem
import Testing

@testable import SealServer

/// That a backup looks for room before it writes anything.
@Suite(.withDatabaseFile, .timeLimit(.minutes(60))) struct BackupRoomTests {
    /// - Parameter free: of each folder's disk; nil where nobody can tell.
    private func attempt(_ server: RunningServer, sealed: Bool, free: UInt64?) throws -> Backup.Outcome {
        let recipient = sealed ? try BackupKey.generate().recipient : nil
        return try Backup(
            dataFolder: server.folder.file("data"), secretsFolder: server.folder.file("data.secrets"),
            place: server.folder.file("place"), recipient: recipient, origin: nil, now: Date(), freeBytes: { _ in free }
        ).run()
    }

    private func bytes(_ server: RunningServer) -> UInt64 {
        let file = server.folder.file("data/sealkit.sqlite")
        return ["", "-wal"].reduce(0) { $0 + UInt64(FileStatus(path: file + $1)?.size ?? 0) }
    }

    @Test(arguments: [false, true]) func whatDoesNotFitIsNotBegun(sealed: Bool) async throws {
        try await RunningServer.with { server in
            let size = bytes(server)
            for free in [0, size - 1] {
                do {
                    _ = try attempt(server, sealed: sealed, free: free)
                    Issue.record("a backup was made without room")
                } catch let error as BackupError {
                    #expect(error.kind == .cannotWrite)
                    #expect(error.reason.contains("\(free) are free"), "\(error)")
                    #expect(!error.remedy.isEmpty)
                }
                let draft = server.folder.file("data/backup-draft.sqlite")
                #expect(!FileManager.default.fileExists(atPath: draft))
                let left = try FileManager.default.contentsOfDirectory(atPath: server.folder.file("place/backups"))
                #expect(left == [])
            }
            if sealed {
                // Draft and sealed copy on one disk, with what the server needs beside them.
                let tight = 2 * size + (16 << 20) - 1
                #expect(throws: BackupError.self) { try attempt(server, sealed: true, free: tight) }
            } else {
                #expect(throws: Never.self) { try attempt(server, sealed: false, free: size + (1 << 20)) }
            }
            #expect(throws: Never.self) { try attempt(server, sealed: sealed, free: 1 << 40) }
            // A disk of which nobody can tell is tried.
            #expect(throws: Never.self) { try attempt(server, sealed: sealed, free: nil) }
        }
    }
}
