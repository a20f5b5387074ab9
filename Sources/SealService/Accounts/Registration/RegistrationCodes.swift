import SealPrimitives
package import SealWire
import SwiftProtobuf

/// Makes registration codes (`RegistrationCode`) for the server's operator. None is kept: the server knows them again
/// by its key.
package struct RegistrationCodes: Sendable {
    /// Seconds; two hundred years: no sum with it overflows.
    package static let longestLifetime: UInt64 = 200 * 366 * 86_400
    package static let mostAtOnce = 1_000

    private let registration: Registration
    private let clock: @Sendable () -> Int64
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - clock: microseconds since 1970.
    ///   - randomBytes: that many bytes that nobody can guess.
    package init(
        registration: Registration, clock: @escaping @Sendable () -> Int64,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        (self.registration, self.clock, self.randomBytes) = (registration, clock, randomBytes)
    }

    /// The codes are in this answer and nowhere else.
    /// - Throws: `invalidArguments`.
    package func make(
        _ message: Sealkit_V1_MakeRegistrationCodesRequest
    ) throws(ServerError) -> [Sealkit_V1_RegistrationCode] {
        guard (1...UInt32(Self.mostAtOnce)).contains(message.count) else {
            throw ServerError(
                .invalidArguments, "One request makes 1 to \(Self.mostAtOnce) registration codes.",
                remedy: "Ask several times for more.")
        }
        guard (1...Self.longestLifetime).contains(message.lifetime) else {
            throw ServerError(
                .invalidArguments, "A registration code is good for at least a second and at most two hundred years.",
                remedy: "Give the lifetime in seconds.")
        }
        let expires = clock() / 1_000_000 + Int64(message.lifetime)
        return (0..<message.count).map { _ in
            let code = RegistrationCode(id: randomBytes(RegistrationCode.idBytes), expires: expires)
            return .with {
                $0.code = registration.text(of: code)
                $0.expires = expires * 1_000_000
            }
        }
    }
}
