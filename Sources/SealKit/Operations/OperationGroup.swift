import Foundation
import SealPrimitives

/// Calls that belong together, to find them again in the server's log: CloudKit's `CKOperationGroup`.
///
/// The id, the quantity and the expected sizes travel with each request and stand in its log line. The name travels
/// too, and the server's operator sees it in telemetry, where all groups of that name are one: "launch sync", say.
/// Nothing that concerns a person belongs into it.
public struct OperationGroup: Sendable, Hashable {
    /// Roughly how much is going to be transferred, by CloudKit's steps.
    public enum TransferSize: Int, Sendable {
        /// Not said.
        case unknown = 0
        /// Some kilobytes.
        case kilobytes = 1
        /// Some megabytes.
        case megabytes = 2
        /// Tens of megabytes.
        case tensOfMegabytes = 3
        /// Hundreds of megabytes.
        case hundredsOfMegabytes = 4
        /// Some gigabytes.
        case gigabytes = 5
        /// Tens of gigabytes.
        case tensOfGigabytes = 6
        /// Hundreds of gigabytes.
        case hundredsOfGigabytes = 7
    }

    /// 32 hexadecimal digits, drawn at random.
    public let operationGroupID: String
    /// The first 64 bytes of its UTF-8 are sent; one with control characters the server passes over.
    public var name: String?
    /// How many user-visible things the calls are about; 0 for unknown.
    public var quantity: Int = 0
    /// Roughly how much will be sent.
    public var expectedSendSize: TransferSize = .unknown
    /// Roughly how much will be received.
    public var expectedReceiveSize: TransferSize = .unknown
    /// For calls of the group that are given no configuration of their own.
    public var defaultConfiguration: OperationConfiguration?

    /// - Parameter name: what the server's telemetry shows its calls under; nil for none. Two groups of the same name
    ///   are told apart by their ids.
    public init(name: String? = nil) {
        var random = SystemRandom()
        operationGroupID = ID16(random: &random).hex
        self.name = name
    }

    static let headerName = "sealkit-operation-group"

    static let nameHeaderName = "sealkit-operation-group-name"
    private static let mostNameBytes = 64

    /// Percent-encoded; nil without a name.
    var nameHeaderValue: String? {
        guard let name, !name.isEmpty else { return nil }
        var (kept, count) = (String.UnicodeScalarView(), 0)
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= Self.mostNameBytes else { break }
            kept.append(scalar)
        }
        return String(kept).addingPercentEncoding(withAllowedCharacters: Self.plain)
    }

    /// RFC 3986's unreserved ones.
    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Digits and hexadecimal digits only, so that nothing else can reach a log.
    var headerValue: String {
        "\(operationGroupID) \(UInt32(clamping: quantity)) \(expectedSendSize.rawValue) \(expectedReceiveSize.rawValue)"
    }
}
