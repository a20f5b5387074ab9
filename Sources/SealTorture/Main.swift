import Foundation
import SealLab

/// `make torture`: kills, vanishing and slow clients and a full disk, then the model. `SEED` makes the same choices
/// again, `ROUNDS` and `MODEL` say how long; `STEPS` plays only the model's steps that a failure named (numbers with
/// commas between). Parts can be named: `SealTorture crash vanish slow disk model`.
@main
struct SealTorture {
    static func main() async {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...999_999_999)
        let rounds = environment["ROUNDS"].flatMap(Int.init) ?? 100
        let steps = environment["MODEL"].flatMap(Int.init) ?? 10_000
        let parts = Set(CommandLine.arguments.dropFirst())
        if let folder = environment["SEALKIT_FULL_DISK"] { return await DiskTorture.main(seed: seed, folder: folder) }
        func isWanted(_ part: String) -> Bool { parts.isEmpty || parts.contains(part) }
        print("seed \(seed): SEED=\(seed) makes the same choices again")
        do {
            if isWanted("crash") { print(try await CrashTorture(seed: seed, rounds: rounds).run().text) }
            if isWanted("vanish") { print(try await VanishingClients(seed: seed, count: rounds * 5).run().text) }
            if isWanted("slow") {
                print(try await SlowClients(seed: seed, count: max(8, min(rounds * 2, 200))).run().text)
            }
            if isWanted("disk") { print(try DiskTorture.inNamespace(seed: seed)) }
            if isWanted("model") { print(try await model(seed: seed, steps: steps)) }
        } catch {
            print("FAILED with seed \(seed): \(error)")
            exit(1)
        }
    }

    private static func model(seed: UInt64, steps: Int) async throws -> String {
        let server = try ServerProcess.temporary()
        defer { server.remove() }
        let shown = ProcessInfo.processInfo.environment["STEPS"]?.split(separator: ",").compactMap { UInt64($0) } ?? []
        guard shown.isEmpty else {
            try await ModelTest(seed: seed, steps: shown.count, origin: server.origin).replay(shown)
            return "The model and the server agreed on the answers to these \(shown.count) steps."
        }
        let counts = try await ModelTest(seed: seed, steps: steps, origin: server.origin).run()
        return
            "The model and the server agreed on the answers to \(steps) random steps of seven devices and four people: \(counts)."
    }
}
