public import Foundation
public import SwiftProtobuf

/// What a wire message takes in memory once it is decoded, estimated from its bytes and without decoding it.
///
/// Two bytes can stand for an empty element of some hundred: whoever sends a few megabytes of those would make the
/// other side hold a gigabyte. So both sides count before they decode.
public enum DecodedSize {
    /// Why a message is not decoded.
    public enum Refusal: Error, Sendable {
        /// It would take more memory than its length allows.
        case tooDense
        /// It is cut short, or nested deeper than any message of the protocol.
        case malformed
    }

    /// Bytes of memory that a byte of a message may become. A list of small numbers, the densest that is meant, takes
    /// 52.
    public static let perByte = 64
    /// What any message may take beside that, in bytes: lists of what is mostly defaults.
    public static let free = 1_048_576
    /// Messages within messages.
    public static let deepest = 32

    /// What a message of so many bytes may become, in bytes of memory.
    public static func most(of bytes: Int) -> Int { free + perByte * bytes }

    /// - Parameters:
    ///   - bytes: in protobuf's binary encoding.
    ///   - most: bytes of memory; nil for what the length allows.
    /// - Returns: bytes of memory, beside `bytes` themselves.
    public static func measure<M: Message>(_ type: M.Type, protobuf bytes: Data, most: Int? = nil) throws(Refusal)
        -> Int
    {
        let most = min(self.most(of: bytes.count), most ?? Int.max)
        let outcome = bytes.withUnsafeBytes { bytes -> Result<Int, Refusal> in
            var walker = MessageWalker(bytes, most: most)
            do {
                // Batches, whose measure counts: as a type that is known here they are gone over without a look at
                // descriptions of types.
                if type == Sealkit_V1_ModifyRecordsRequest.self {
                    try walker.walk(Sealkit_V1_ModifyRecordsRequest.self)
                } else {
                    try walker.walk(type)
                }
                return .success(walker.size)
            } catch {
                return .failure(error as? Refusal ?? .malformed)
            }
        }
        return try outcome.get()
    }

    /// The same for protobuf's JSON, by what stands in it whatever it means.
    public static func measure(json bytes: Data, most: Int? = nil) throws(Refusal) -> Int {
        let most = min(self.most(of: bytes.count), most ?? Int.max)
        let outcome = bytes.withUnsafeBytes { bytes -> Result<Int, Refusal> in
            var (size, depth, isText, isEscaped) = (bytes.count, 0, false, false)
            for byte in bytes {
                if isText {
                    if isEscaped {
                        isEscaped = false
                    } else if byte == 0x5C {
                        isEscaped = true
                    } else if byte == 0x22 {
                        isText = false
                    }
                    continue
                }
                switch byte {
                case 0x22: isText = true
                case 0x7B:
                    size += jsonObject
                    depth += 1
                case 0x5B:
                    size += jsonValue
                    depth += 1
                case 0x7D, 0x5D: depth -= 1
                case 0x2C: size += jsonValue
                default: continue
                }
                guard size <= most else { return .failure(.tooDense) }
                // Each message in a list is nested twice here.
                guard depth <= 2 * deepest else { return .failure(.malformed) }
            }
            return .success(size)
        }
        return try outcome.get()
    }

    /// A message of any kind, its place in a list included: more than the largest has without what its fields hold.
    private static let jsonObject = 512
    /// Any other element of a list: of a message's fields nothing is added, since they are part of it.
    private static let jsonValue = 32
}

extension Message {
    /// Reads a message from protobuf's binary encoding, once `DecodedSize` has taken its measure. What this version
    /// does not know is not kept: nobody has checked it, nor counted it.
    public init(measured bytes: Data) throws {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        options.messageDepthLimit = DecodedSize.deepest
        try self.init(serializedBytes: bytes, options: options)
    }

    /// The same from JSON.
    public init(measuredJSON bytes: Data) throws {
        var options = JSONDecodingOptions()
        options.messageDepthLimit = DecodedSize.deepest
        try self.init(jsonUTF8Bytes: bytes, options: options)
    }
}
