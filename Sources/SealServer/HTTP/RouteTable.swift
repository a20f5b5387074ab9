import Hummingbird
import SealService
import Synchronization

/// The server's paths and methods, to tell a wrong method (405) from a wrong path (404).
final class RouteTable: Sendable {
    private struct Entry: Sendable {
        let pattern: [String]
        let method: String
    }

    private let entries = Mutex<[Entry]>([])

    /// To be called once all routes have been added.
    func fill(from router: Router<SealRequestContext>) {
        let all = router.routes.map { route in
            Entry(pattern: Self.split(route.path.description), method: route.method.rawValue)
        }
        entries.withLock { $0 = all }
    }

    func methods(for path: String) -> Set<String> {
        let parts = Self.split(path)
        return entries.withLock { entries in
            Set(entries.filter { Self.matches($0.pattern, parts) }.map(\.method))
        }
    }

    private static func split(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    }

    private static func matches(_ pattern: [String], _ parts: [String]) -> Bool {
        for (index, element) in pattern.enumerated() {
            if element == "**" { return true }
            guard index < parts.count else { return false }
            let isCapture = element == "*" || element.contains("{") || element.hasPrefix(":")
            guard isCapture || element == parts[index] else { return false }
        }
        return pattern.count == parts.count
    }
}
