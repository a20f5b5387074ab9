import HTTPTypes
import Hummingbird

/// The server's paths, each with what answers its methods.
///
/// Paths are taken apart by their bytes. Hummingbird's own router goes through them by characters, of which Unicode
/// makes something dear: it took a tenth of the instructions of a look-up.
struct RouteTable: Sendable {
    typealias Handler = @Sendable (Request, SealRequestContext) async throws -> Response

    /// What answers a method of a path.
    struct Served: Sendable {
        /// The endpoint's, for metrics and telemetry.
        let name: String
        /// It is known to change nothing.
        let isRead: Bool
        let handler: Handler
    }

    /// A path that is one of the server's.
    struct Match: Sendable {
        /// As the table of endpoints writes the path.
        let template: String
        let parameters: PathParameters
        let methods: [HTTPRequest.Method: Served]
    }

    private struct Node: Sendable {
        /// What follows a part of a path that is written out: places in `nodes`.
        var written: [Substring: Int] = [:]
        /// What follows a part that is a parameter, and what that is called.
        var parameter: (name: String, next: Int)?
        /// Empty where no path ends.
        var template = ""
        var methods: [HTTPRequest.Method: Served] = [:]
    }

    private var nodes = [Node()]

    /// Adds a route. Its parameters are in braces; one that stands beside another one has the same name.
    /// - Parameter isRead: it is known to change nothing.
    mutating func add(
        _ method: HTTPRequest.Method, _ template: String, name: String, isRead: Bool = false,
        _ handler: @escaping Handler
    ) {
        var place = 0
        for part in Self.parts(of: template) {
            let isParameter = part.first == "{"
            if let next = isParameter ? nodes[place].parameter?.next : nodes[place].written[part] {
                place = next
                continue
            }
            nodes.append(Node())
            if isParameter {
                nodes[place].parameter = (String(part.dropFirst().dropLast()), nodes.count - 1)
            } else {
                nodes[place].written[part] = nodes.count - 1
            }
            place = nodes.count - 1
        }
        nodes[place].template = template
        nodes[place].methods[method] = Served(name: name, isRead: isRead, handler: handler)
    }

    /// All that were added.
    var routes: [(method: HTTPRequest.Method, template: String)] {
        nodes.flatMap { node in node.methods.keys.map { ($0, node.template) } }
    }

    /// - Parameter path: as it came, percent-encoded: so are its parameters.
    func find(_ path: String) -> Match? {
        var parameters = PathParameters()
        guard let place = descend(Self.parts(of: path)[...], from: 0, &parameters) else { return nil }
        return Match(template: nodes[place].template, parameters: parameters, methods: nodes[place].methods)
    }

    /// What is written out goes before a parameter.
    private func descend(
        _ parts: ArraySlice<Substring>, from place: Int, _ parameters: inout PathParameters
    ) -> Int? {
        guard let part = parts.first else { return nodes[place].methods.isEmpty ? nil : place }
        let rest = parts.dropFirst()
        if let next = nodes[place].written[part], let end = descend(rest, from: next, &parameters) { return end }
        guard let (name, next) = nodes[place].parameter else { return nil }
        parameters.values.append((name, part))
        if let end = descend(rest, from: next, &parameters) { return end }
        parameters.values.removeLast()
        return nil
    }

    /// The longest of the server's paths has fewer.
    private static let mostParts = 16

    /// Those of a path with more parts are not told apart: no route has them.
    private static func parts(of path: String) -> [Substring] {
        var parts: [Substring] = []
        parts.reserveCapacity(mostParts + 1)
        var (begin, place) = (path.startIndex, path.startIndex)
        while place < path.endIndex, parts.count < mostParts {
            let next = path.utf8.index(after: place)
            if path.utf8[place] == 0x2f {
                if begin < place { parts.append(path[begin..<place]) }
                begin = next
            }
            place = next
        }
        if begin < path.endIndex { parts.append(path[begin...]) }
        return parts
    }
}

/// What the request's path has in the places of the route's parameters: as it came, percent-encoded.
struct PathParameters: Sendable {
    /// The route's, in their order: few, so that looking through them is the quickest.
    fileprivate(set) var values: [(name: String, value: Substring)] = []

    subscript(_ name: String) -> String? { part(name).map { String($0) } }

    /// The same where it is.
    func part(_ name: String) -> Substring? { values.first { $0.name == name }?.value }
}
