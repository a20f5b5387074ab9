import Foundation
import SealLab

/// What an operator has to look into the data of a server that has ended: `sealkit check`. Every file of an asset is
/// there as it was uploaded, nobody has what is nobody's, and one that was killed has left nothing that is reported.
struct StoppedCheck {
    private(set) var count = 0
    private var time = Duration.zero

    /// - Parameter dataFolder: of a server that does not run.
    mutating func run(_ dataFolder: URL) async throws {
        let start = ContinuousClock.now
        let said = try await Command.finished(ServerProcess.executable, ["check", "--data", dataFolder.path])
        try check(
            said.status == 0, "sealkit check ends with \(said.status): \((said.output + said.errors).prefix(2_000))")
        count += 1
        time += ContinuousClock.now - start
    }

    /// How long it took each time.
    var text: String {
        let each: Double = count > 0 ? time / .seconds(1) / Double(count) : 0
        return "sealkit check found nothing \(count) times, in \(String(format: "%.1f", each)) s each"
    }
}
