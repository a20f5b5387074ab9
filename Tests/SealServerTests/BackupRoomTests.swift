import Foundation
import SealPrimitives
import SealStorage
import SealSystem
import Testing

@testable import SealServer
@testable import SealService

/// That a backup looks for room before it writes anything, leaves the server what it needs, and that backups do not
/// become more without end.
@Suite(.withDatabaseFile, .timeLimit(.minutes(60))) struct BackupRoomTests {
    /// - Parameter free: of each folder's disk; nil where nobody can tell.
    private func attempt(_ server: RunningServer, sealed: Bool, free: UInt64?) throws -> Backup.Outcome {
        let recipient = sealed ? try BackupKey.generate().recipient : nil
        return try Backup(
            dataFolder: server.folder.file("data"), secretsFolder: server.folder.file("data.secrets"),
            place: server.folder.file("place"), recipient: recipient, origin: nil, now: Date(), freeBytes: { _ in free }
        ).run()
    }

    /// What else lies in the secrets folder stops no backup that seals none of it.
    @Test func onlyKeysAreReadWhereNothingIsSealed() async throws {
        try await RunningServer.with { server in
            let folder = server.folder.file("data.secrets/console-keys")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let (open, large) = (folder + "/open.json", folder + "/large.key")
            try Data("{}".utf8).write(to: URL(fileURLWithPath: open))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
            try Data(count: 70_000).write(to: URL(fileURLWithPath: large))
            let made = try attempt(server, sealed: false, free: nil)
            #expect(made.missing.isEmpty)
            #expect(BackupNote(in: server.folder.file("data"))?.name == made.name)
            // Sealing them says which one is open to others.
            let backup = try Backup(
                dataFolder: server.folder.file("data"), secretsFolder: server.folder.file("data.secrets"),
                place: server.folder.file("place"), recipient: try BackupKey.generate().recipient, origin: nil,
                now: Date())
            #expect(throws: SecretFileError.readableByOthers(path: open)) {
                try FileManager.default.removeItem(atPath: large)
                _ = try backup.run(secretsTo: server.folder.file("secrets.sealed"))
            }
        }
    }

    /// Of many that make one file at once, one does, and the file has what that one wrote.
    @Test func oneOfManyMakesASecret() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("secret")
        for _ in 0..<16 {
            try? FileManager.default.removeItem(atPath: path)
            let made = await withTaskGroup(of: UInt8?.self) { group in
                for number in 0..<UInt8(8) {
                    group.addTask {
                        let bytes = [UInt8](repeating: number, count: SecretFile.byteCount)
                        return (try? SecretFile.create(at: path, contents: bytes)).map { number }
                    }
                }
                return await group.compactMap { $0 }.reduce(into: []) { $0.append($1) }
            }
            #expect(made.count == 1)
            let bytes = try SecretFile.contents(of: path, atMost: SecretFile.byteCount)
            #expect(bytes == [UInt8](repeating: made.first ?? 255, count: SecretFile.byteCount))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["secret"])
    }

    /// Whoever makes the backup, the server's user reads when it was.
    @Test(.enabled(if: geteuid() == 0)) func theNoteIsOfWhoeverHasTheFolder() throws {
        let folder = TemporaryFolder()
        let path = folder.file("data")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(chown(path, 12_345, 23_456) == 0)
        for name in ["first", "second"] {
            try BackupNote.write(name, in: path)
            let owner = try #require(FileStatus(path: path + "/" + BackupNote.fileName)).owner
            #expect(owner.user == 12_345 && owner.group == 23_456)
            #expect(BackupNote(in: path)?.name == name)
        }
    }

    /// What nobody could open again is not sealed.
    @Test func secretsHaveALimitTogether() async throws {
        try await RunningServer.with { server in
            let (folder, sealed) = (
                server.folder.file("data.secrets/console-keys"), server.folder.file("secrets.sealed")
            )
            try PrivateFiles.createFolder(at: folder)
            let key = try BackupKey.generate()
            let backup = try Backup(
                dataFolder: server.folder.file("data"), secretsFolder: server.folder.file("data.secrets"),
                place: server.folder.file("place"), recipient: key.recipient, origin: nil, now: Date())
            for number in 0..<63 {
                try SecretFile.create(at: folder + "/\(number).json", contents: [UInt8](repeating: 7, count: 1 << 16))
            }
            _ = try backup.run(secretsTo: sealed)
            #expect(throws: Never.self) { try SecretsCopy(sealedFile: sealed, key: key) }
            try SecretFile.create(at: folder + "/63.json", contents: [UInt8](repeating: 7, count: 1 << 16))
            do {
                _ = try backup.run(secretsTo: sealed)
                Issue.record("more was sealed than anybody opens")
            } catch let error as BackupError {
                #expect(error.kind == .badInput)
                #expect(error.reason.contains("4 MiB"), "\(error)")
            }
        }
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
                #expect(throws: BackupError.self) {
                    try attempt(server, sealed: false, free: size + (16 << 20) - 1)
                }
                #expect(throws: Never.self) { try attempt(server, sealed: false, free: size + (16 << 20)) }
            }
            #expect(throws: Never.self) { try attempt(server, sealed: sealed, free: 1 << 40) }
            // A disk of which nobody can tell is tried.
            #expect(throws: Never.self) { try attempt(server, sealed: sealed, free: nil) }
        }
    }

    private func place(_ server: RunningServer) throws -> [String] {
        let place = server.folder.file("place")
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: place).map { place + "/" + $0 }
    }

    private func make(
        _ server: RunningServer, sealedTo recipient: BackupRecipient? = nil, after seconds: Double = 0,
        keep: Int? = nil,
        freeBytes: @escaping (String) -> UInt64? = { _ in nil }
    ) throws -> Backup.Outcome {
        try Backup(
            dataFolder: server.folder.file("data"), secretsFolder: server.folder.file("data.secrets"),
            place: server.folder.file("place"), recipient: recipient, origin: nil,
            now: Date(timeIntervalSince1970: 1_800_000_000 + seconds), freeBytes: freeBytes
        ).run(keep: keep)
    }

    /// On one disk with the data, as the packaged timer makes them.
    @Test(arguments: [false, true]) func blobsLeaveTheServerWhatItNeeds(sealed: Bool) async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeSharedZone()
            for index in 0..<24 {
                let bytes = [UInt8](repeating: UInt8(index), count: 1 << 20)
                _ = try await AssetTests().upload(anna, bytes, in: zone)
            }
            let recipient = sealed ? try BackupKey.generate().recipient : nil
            // Of the database, once more where it is sealed, and of some blobs.
            let disk = bytes(server) * 2 + (16 << 20) + (3 << 20)
            func free() -> UInt64 {
                let used = (try? place(server))?.reduce(UInt64(0)) { sum, path in
                    let status = FileStatus(link: path)
                    return sum + (status?.isRegular == true ? UInt64(status?.size ?? 0) : 0)
                }
                return disk - min(disk, used ?? 0)
            }
            do {
                _ = try make(server, sealedTo: recipient, freeBytes: { _ in free() })
                Issue.record("a backup was made without room")
            } catch let error as BackupError {
                #expect(error.kind == .cannotWrite && error.reason.contains("the next blob needs"), "\(error)")
            }
            #expect(free() >= 16 << 20)
            let left = try place(server).map { ($0 as NSString).lastPathComponent }
            let halves = left.filter { $0.hasSuffix(".new") || $0.hasPrefix(SQLiteDatabase.fileName) }
            #expect(halves == [])
            // With more room the next one goes on.
            let made = try make(server, sealedTo: recipient, after: 1)
            #expect(made.blobs == 24)
            #expect((1..<24).contains(made.copied))
        }
    }

    /// What is lost for good is told each time, and keeps no backup from giving way to the next.
    @Test func aLostBlobDoesNotKeepAllBackupsForGood() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeSharedZone()
            let (data, files) = (server.folder.file("data"), FileManager.default)
            func lose() async throws {
                _ = try await AssetTests().upload(anna, randomBytes(100), in: zone)
                let blobs = data + "/blobs/"
                for path in try files.subpathsOfDirectory(atPath: blobs) where path.utf8.count > 30 {
                    try files.removeItem(atPath: blobs + path)
                }
            }
            func backups() throws -> [String] {
                try files.contentsOfDirectory(atPath: server.folder.file("place/backups"))
            }
            try await lose()
            for night in 0..<6 {
                let made = try make(server, after: Double(night), keep: 3)
                #expect(made.missing.count == 1)
                #expect(made.hasLostMore == (night == 0))
                #expect(try backups().count == min(night + 1, 3))
                #expect(BackupNote(in: data)?.name == (night == 0 ? "" : made.name))
            }
            // Whatever is lost beside it keeps them, once.
            try await lose()
            let more = try make(server, after: 10, keep: 3)
            #expect(more.missing.count == 2 && more.hasLostMore)
            #expect(try backups().count == 4)
            #expect(try make(server, after: 11, keep: 3).removed.backups == 2)
        }
    }
}
