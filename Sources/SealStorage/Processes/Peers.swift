import SealSystem
import Synchronization

/// The server processes that serve one database at the same time, as far as this one knows.
///
/// What it knows is some seconds old at most, and good for shares of limits and for what may be remembered. Whoever has
/// to know it exactly asks in a transaction (`SQLConnection.processes`).
package final class Peers: Sendable {
    /// Between looks whether a process is gone that was killed: the database has to notice that first.
    package static let patience: [Duration] = [50, 100, 200, 400, 800, 1_500].map { .milliseconds($0) }

    /// This process's number: random, of one start.
    package let own = Int64(Int32.random(in: 1...Int32.max))
    /// The same as a holder of jobs is noted.
    package var holder: [UInt8] { Self.holder(own) }
    private let others = Mutex<Set<Int64>>([])
    private let heardUntil: Atomic<Int64>
    private let clock: @Sendable () -> Int64

    /// Of a database that one process has to itself.
    package static func none() -> Peers { Peers(heardUntil: .max, clock: steadyClock) }

    /// - Parameters:
    ///   - heardUntil: by `clock`.
    ///   - clock: microseconds, which only go forward.
    init(heardUntil: Int64, clock: @escaping @Sendable () -> Int64) {
        self.heardUntil = Atomic(heardUntil)
        self.clock = clock
    }

    /// How many there are, with this one.
    package var count: Int { others.withLock(\.count) + 1 }

    /// Whether this process hears what others announce. While it does not, nothing may be remembered that another one
    /// may end.
    package var areHeard: Bool { clock() < heardUntil.load(ordering: .acquiring) }

    /// Whether nobody else is there, as far as this process knows.
    package var isAlone: Bool { areHeard && others.withLock(\.isEmpty) }

    static func holder(_ process: Int64) -> [UInt8] { withUnsafeBytes(of: process.littleEndian) { Array($0) } }

    /// - Returns: whether some are there that were not, and whether some are not that were.
    @discardableResult
    func note(_ processes: Set<Int64>, heardUntil: Int64) -> (came: Bool, went: Bool) {
        let now = processes.subtracting([own])
        let before = others.withLock { others in
            defer { others = now }
            return others
        }
        self.heardUntil.store(heardUntil, ordering: .releasing)
        return (!now.isSubset(of: before), !before.isSubset(of: now))
    }

    /// Who is there is not known any more: they count as before, and are not heard.
    func loseHearing() { heardUntil.store(.min, ordering: .releasing) }
}
