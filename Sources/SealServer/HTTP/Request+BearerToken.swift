import HTTPTypes
import Hummingbird

extension Request {
    /// Nil where the request has none.
    var bearerToken: Substring? {
        guard let header = headers.value(of: .authorization) else { return nil }
        // As most clients write it; a token is checked as a whole in any case.
        if header.hasPrefix("Bearer "), !header.utf8.dropFirst(7).contains(0x20) { return header.dropFirst(7) }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1]
    }
}
