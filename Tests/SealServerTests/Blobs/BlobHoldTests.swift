import Foundation
import NIOCore
import SealSystem
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What a copy of the database names stays until it is copied.
@Suite(.timeLimit(.minutes(60))) struct BlobHoldTests {
    @Test func garbageStaysWhileSomebodyCopiesAndGoesAfterwards() async throws {
        try await RunningServer.with { server in
            let blobs = server.services.blobs
            var generator = SystemRandomNumberGenerator()
            let id = BlobID(random: &generator)
            let upload = try await blobs.beginUpload(id)
            try await upload.append(ByteBuffer(bytes: [1, 2, 3]))
            _ = try await upload.finish()
            let hold = try #require(try BlobHold.forCopying(from: server.folder.file("data/blobs")))
            let second = try BlobHold.forCopying(from: server.folder.file("data/blobs"))
            #expect(second == nil)
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    "INSERT INTO blob_garbage (stored) VALUES ($1)", [.text(id.description)])
            }
            try await server.sweep(now: server.clock.now)
            #expect(try await blobs.size(of: id) == 3)
            hold.release()
            try await server.sweep(now: server.clock.now)
            let size = try? await blobs.size(of: id)
            #expect(size == nil)
            let rest = try await server.services.database.read { try $0.exists("SELECT 1 FROM blob_garbage") }
            #expect(!rest)
        }
    }

    /// Whoever copies the folder, as root say, finds the file, and makes none that the server could not open.
    @Test func theServerMakesTheFileThatCopiesHold() async throws {
        try await RunningServer.with { server in
            let lock = try #require(FileStatus(link: server.folder.file("data/blobs.lock")))
            #expect(lock.isRegular && lock.owner.user == geteuid())
        }
    }

    @Test func pathsAreAbsoluteAndHaveAFolderAbove() {
        let here = FileManager.default.currentDirectoryPath.absolutePath
        #expect(".".absolutePath == here)
        #expect("".absolutePath == here)
        #expect("./".absolutePath.folderAbove == here.folderAbove)
        #expect("..".absolutePath == here.folderAbove)
        #expect("not-there/a//b/./c/".absolutePath == here + "/not-there/a/b/c")
        #expect("not-there/../x".absolutePath == here + "/x")
        #expect("/".absolutePath == "/")
        #expect("/".folderAbove == "/")
        #expect("/a".folderAbove == "/")
        #expect("/a/b".isWithin("/a"))
        #expect(!"/ab".isWithin("/a"))
        #expect("/ab".isWithin("/"))
    }
}
