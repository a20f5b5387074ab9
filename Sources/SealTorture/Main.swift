import Foundation
import SealKit
import SealLab

/// `make torture`: kills, vanishing and slow clients and a full disk, then the model. `SEED` makes the same choices
/// again, `ROUNDS` and `MODEL` say how long; `STEPS` plays only the model's steps that a failure named (numbers with
/// commas between). Parts can be named: `SealTorture crash vanish slow disk model`;
/// `make soak` is `SealTorture soak`, for `MINUTES` with `CLIENTS`; `make torture-servers` is `SealTorture servers
/// servers-model`: the crash and the model's parts before several servers, a PostgreSQL and an S3 store.
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
            if settings.isWanted("crash") {
                print(try await CrashTorture(seed: seed, rounds: rounds, ground: OneServer()).run().text)
            }
            if settings.isWanted("vanish") {
                print(try await VanishingClients(seed: seed, count: rounds * 5).run().text)
            }
            if settings.isWanted("slow") {
                print(try await SlowClients(seed: seed, count: max(8, min(rounds * 2, 200))).run().text)
            }
            if settings.isWanted("disk") { print(try DiskTorture.inNamespace(seed: seed)) }
            if settings.isWanted("model") { print(try await model(settings)) }
            if settings.isWanted("servers") {
                let ground = try await SeveralServers(database: LonePostgres())
                print(try await CrashTorture(seed: seed, rounds: rounds, ground: ground).run().text)
            }
            if settings.isWanted("cluster") {
                guard let url = environment["TORTURE_CLUSTER"] else {
                    throw Finding("TORTURE_CLUSTER has no URL: Tests/Deploy/cluster runs this part")
                }
                let ground = try await SeveralServers(database: ClusterDatabase(url: url))
                print(try await CrashTorture(seed: seed, rounds: rounds, ground: ground).run().text)
            }
            if settings.isWanted("servers-model") { print(try await modelBeforeServers(settings)) }
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
        let origin = server.origin
        return try await model(settings, with: "the server") { try HTTPTransport(server: origin) }
    }

    /// Each request goes to another server than the one before.
    private static func modelBeforeServers(_ settings: TortureSettings) async throws -> String {
        let ground = try await SeveralServers(database: LonePostgres())
        return try await ground.used {
            try await model(settings, with: "two servers by turns") { try ground.transport() }
        }
    }

    private static func model(
        _ settings: TortureSettings, with whom: String, _ transport: @escaping @Sendable () throws -> any Transport
    ) async throws -> String {
        let shown = settings.shown
        guard shown.isEmpty else {
            try await ModelTest(seed: settings.seed, steps: shown.count, transport: transport).replay(shown)
            return "The model and \(whom) agreed on the answers to these \(shown.count) steps."
        }
        let counts = try await ModelTest(seed: settings.seed, steps: settings.steps, transport: transport).run()
        return
            "The model and \(whom) agreed on the answers to \(settings.steps) random steps of seven devices and four people: \(counts)."
    }
}
