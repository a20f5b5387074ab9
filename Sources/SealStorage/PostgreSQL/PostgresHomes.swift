import Crypto
import Foundation

/// Homes as advisory locks, which a transaction holds to its end. They are taken in one order by all, so that no two
/// wait for each other: everything, then the others by their numbers.
enum PostgresHomes {
    /// Of two numbers: the first says that it is such a lock.
    private static let everything = "(1396788556, 0)"

    /// What begins a transaction: its statements see all that was committed before it had its locks.
    static func begin(_ homes: Homes) -> String {
        "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT \(locks(homes).joined(separator: ", "))"
    }

    private static func locks(_ homes: Homes) -> [String] {
        guard homes.own != .everything else { return ["pg_advisory_xact_lock\(everything)"] }
        let others = homes.beside.subtracting([homes.own]).compactMap { home in
            number(of: home).map { (number: $0, lock: "pg_advisory_xact_lock\(home.isShared ? "_shared" : "")(\($0))") }
        }
        let own = number(of: homes.own).map { [(number: $0, lock: "pg_advisory_xact_lock(\($0))")] } ?? []
        return ["pg_advisory_xact_lock_shared\(everything)"]
            + (own + others).sorted { $0.number < $1.number }.map(\.lock)
    }

    /// nil for everything, which no number is. Two homes of one number would wait for each other without need, no more.
    static func number(of home: Home) -> Int64? {
        let words: [String]
        switch home {
        case .everything: return nil
        case .zone(let owner, let zone): words = ["zone", "\(owner)", "\(zone)"]
        case .account(let account): words = ["account", "\(account)"]
        case .bill(let account): words = ["bill", "\(account)"]
        case .container(let name, let environment): words = ["container", "\(environment)", name]
        case .entry(let key): words = ["entry", "\(key)"]
        case .job(let name): words = ["job", name]
        }
        return SHA256.hash(data: Data(words.joined(separator: " ").utf8)).prefix(8).reduce(0) { $0 << 8 | Int64($1) }
    }
}
