import Foundation
import SealLab

/// PostgreSQL under Patroni, which whoever began this program has started, and strikes when told to:
/// `Tests/Deploy/cluster`. A line of standard output, `cluster: primary`, `cluster: node` or `cluster: whole`, is
/// answered by one of standard input, `done` or what went wrong.
final class ClusterDatabase: StruckDatabase {
    let url: String

    /// One has Patroni take another primary or start the same again; in the other nobody is left there to do so.
    private static let blows = ["primary": "the primary", "node": "the primary's whole node"]

    init(url: String) { self.url = url }

    /// A takeover takes half a minute.
    var share: Int { 12 }

    private func tell(_ word: String) async throws {
        // `print` keeps it to itself where nobody has a terminal.
        try FileHandle.standardOutput.write(contentsOf: Data("cluster: \(word)\n".utf8))
        let answer = await Thread.waiting { readLine() }
        try check(answer == "done", "\(word): \(answer ?? "whoever has the cluster is gone")")
    }

    func strike(_ random: inout SeededRandom) async throws -> String {
        guard let blow = random.one(of: Self.blows.keys.sorted()) else { return "nothing" }
        try await tell(blow)
        return Self.blows[blow] ?? blow
    }

    func recover() async throws { try await tell("whole") }

    func remove() {}
}
