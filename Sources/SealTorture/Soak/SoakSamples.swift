import Foundation
import SealLab

/// What a server held, and all clients together, from time to time.
struct SoakSamples {
    /// Connections to the database, which are kept once they were needed.
    static let keptFiles = 24

    private var held: [Held] = []

    private struct Held {
        let ownMegabytes: Double
        /// With those of the files that the server has mapped, which grow with its database.
        let megabytes: Double
        let files: Double
        /// The clients' process's own. It grows by what they are told to compare in the end, too.
        let clientMegabytes: Double
    }

    mutating func add(_ server: ServerProcess) {
        held.append(
            Held(
                ownMegabytes: server.ownMegabytes, megabytes: server.residentMegabytes, files: Double(server.openFiles),
                clientMegabytes: ServerProcess.megabytes("RssAnon", of: ProcessInfo.processInfo.processIdentifier))
        )
    }

    /// The first fifth of the time against the last one, each by its middle.
    struct Drift {
        var first = 0.0
        var last = 0.0

        var part: Double { first > 0 ? last / first - 1 : 0 }

        func text(_ unit: String) -> String {
            String(format: "%.0f, at the end %.0f %@ (%+.1f %%)", first, last, unit, part * 100)
        }
    }

    var ownMegabytes: Drift { drift(\.ownMegabytes) }
    var megabytes: Drift { drift(\.megabytes) }
    var files: Drift { drift(\.files) }
    var clientMegabytes: Drift { drift(\.clientMegabytes) }

    private func drift(_ value: (Held) -> Double) -> Drift {
        let values = held.map(value)
        let fifth = max(1, values.count / 5)
        func middle(_ part: ArraySlice<Double>) -> Double { part.isEmpty ? 0 : part.sorted()[part.count / 2] }
        return Drift(first: middle(values.prefix(fifth)), last: middle(values.suffix(fifth)))
    }
}
