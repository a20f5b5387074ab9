package import SealStorage
import SealWire

/// What of all was refused, and by whose fault.
extension TelemetrySeries.Part {
    package var failures: Int64 { codes.values.reduce(0, +) }

    /// Those that are the server's fault, and not the client's.
    package var serverErrors: Int64 {
        codes.reduce(0) { sum, code in Self.isServerError(code.key) ? sum + code.value : sum }
    }

    package static func isServerError(_ code: String) -> Bool {
        // Of what has no code of the protocol's telemetry says `http-502`.
        (ErrorCode(rawValue: code)?.httpStatus ?? Int(code.dropFirst(5)) ?? 0) >= 500
    }
}
