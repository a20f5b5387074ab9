import HTTPTypes
import Hummingbird
import NIOCore

/// In which of its forms a file of the web client travels.
enum WebEncoding: String, CaseIterable {
    /// Smallest first.
    case brotli = "br"
    case gzip

    /// The best one that the client takes; nil for the bytes as they are.
    init?(acceptedBy request: Request) {
        guard let accepted = request.headers.value(of: .acceptEncoding) else { return nil }
        var qualities: [String: Bool] = [:]
        for part in accepted.split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard let name = pieces.first else { continue }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            qualities[name] = weight > 0
        }
        guard let best = Self.allCases.first(where: { qualities[$0.rawValue] ?? qualities["*"] ?? false }) else {
            return nil
        }
        self = best
    }
}

extension WebBundle.File {
    func body(_ encoding: WebEncoding?) -> ByteBuffer {
        switch encoding {
        case .brotli: brotli
        case .gzip: gzip
        case nil: plain
        }
    }
}
