import Foundation
import Testing

@testable import sealkit

/// Files that are named on the command line.
@Suite(.timeLimit(.minutes(5))) struct GivenFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func aSecretIsTheFirstLineAndNeverAnotherThanItSays() throws {
        let file = folder.url.appendingPathComponent("password")
        try Data([UInt8]("pässword\r\n".utf8) + [0xFF]).write(to: file)
        #expect(try GivenFile.secret(in: file.path, "password") == "pässword")
        // Mended, it would be another one: the relay or the database would refuse it, and nobody would know why.
        try Data([UInt8]("pass".utf8) + [0xE4, 0x0A]).write(to: file)
        let refused = try #require(throws: Failure.Local.self) { try GivenFile.secret(in: file.path, "password") }
        #expect(refused.status == .badInput)
        #expect(refused.reason.contains("not UTF-8"), "\(refused.reason)")
    }

    @Test func aFolderIsNoFileToRead() throws {
        #expect(try GivenFile.contents(of: folder.url.path) == nil)
        let refused = try #require(throws: Failure.Local.self) {
            try GivenFile.secret(in: folder.url.path, "password")
        }
        #expect(refused.reason.contains("no password file"), "\(refused.reason)")
    }
}
