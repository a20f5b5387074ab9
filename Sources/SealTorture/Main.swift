import Foundation
import SealLab

/// `make torture`: kills, vanishing and slow clients and a full disk, then the model. `SEED` makes the same choices
/// again, `ROUNDS` and `MODEL` say how long; `STEPS` plays only the model's steps that a failure named (numbers with
/// commas between). Parts can be named: `SealTorture crash vanish slow disk model`;
/// `make soak` is `SealTorture soak`, for `MINUTES` with `CLIENTS`.
@main
struct SealTorture {
    static func main() async {
        let environment = ProcessInfo.processInfo.environment
        let settings: TortureSettings
        do {
            settings = try TortureSettings(
                arguments: Array(CommandLine.arguments.dropFirst()), environment: environment)
        } catch {
            print("SealTorture: \(error)")
            exit(64)
        }
        let (seed, rounds) = (settings.seed, settings.rounds)
        if let folder = environment["SEALKIT_FULL_DISK"] { return await DiskTorture.main(seed: seed, folder: folder) }
        print("seed \(seed): SEED=\(seed) makes the same choices again")
        do {
            if settings.isWanted("crash") { print(try await CrashTorture(seed: seed, rounds: rounds).run().text) }
            if settings.isWanted("vanish") {
                print(try await VanishingClients(seed: seed, count: rounds * 5).run().text)
            }
            if settings.isWanted("slow") {
                print(try await SlowClients(seed: seed, count: max(8, min(rounds * 2, 200))).run().text)
            }
            if settings.isWanted("disk") { print(try DiskTorture.inNamespace(seed: seed)) }
            if settings.isWanted("model") { print(try await model(settings)) }
            if settings.isWanted("soak") {
                print(try await Soak(seed: seed, minutes: settings.minutes, clients: settings.clients).run().text)
            }
        } catch {
            print("FAILED with seed \(seed): \(error)")
            exit(1)
        }
    }

    private static func model(_ settings: TortureSettings) async throws -> String {
        let server = try ServerProcess.temporary()
        defer { server.remove() }
        let (steps, shown) = (settings.steps, settings.shown)
        guard shown.isEmpty else {
            try await ModelTest(seed: settings.seed, steps: shown.count, origin: server.origin).replay(shown)
            return "The model and the server agreed on the answers to these \(shown.count) steps."
        }
        let counts = try await ModelTest(seed: settings.seed, steps: steps, origin: server.origin).run()
        return
            "The model and the server agreed on the answers to \(steps) random steps of seven devices and four people: \(counts)."
    }
}
