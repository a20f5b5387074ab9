public import SealPrimitives

/// Which names the protocol and CloudKit allow. All are ASCII, so that equal strings are equal bytes.
public enum Names {
    public static let defaultZone = "_defaultZone"
    public static let zoneWideShare = "cloudkit.zoneshare"
    public static let shareType = "cloudkit.share"
    public static let usersType = "Users"

    /// Printable ASCII, 1 to 255 bytes: container, zone and record names.
    public static func isPlain(_ name: String) -> Bool {
        let bytes = name.utf8
        return !bytes.isEmpty && bytes.count <= Limits.nameBytes && bytes.allSatisfy { $0 >= 0x20 && $0 <= 0x7E }
    }

    /// `[A-Za-z][A-Za-z0-9_]*`, up to 255 bytes: record types and field names.
    public static func isIdentifier(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, isLetter(first), bytes.count <= Limits.nameBytes else { return false }
        return bytes.allSatisfy { isLetter($0) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5F }
    }

    /// Record types: identifiers, and the share's own type.
    public static func isRecordType(_ name: String) -> Bool { isIdentifier(name) || name == shareType }

    /// A custom zone's name: no leading underscore.
    public static func isCustomZone(_ name: String) -> Bool { isPlain(name) && name.utf8.first != 0x5F }

    /// Letters, digits, dots and hyphens.
    public static func isContainer(_ name: String) -> Bool {
        let bytes = name.utf8
        return !bytes.isEmpty && bytes.count <= Limits.nameBytes
            && bytes.allSatisfy { isLetter($0) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E || $0 == 0x2D }
    }

    /// Names of CloudKit's system fields, which no user field may take.
    public static let reservedFields: [String] = [
        "recordID", "recordName", "recordType", "recordChangeTag", "creationDate", "creatorUserRecordID",
        "modificationDate", "lastModifiedUserRecordID", "parent", "share", "encryptedValues",
    ]

    /// Whether it is one of `reservedFields`.
    public static func isReservedField(_ name: String) -> Bool {
        let count = name.utf8.count
        return reservedFields.contains { $0.utf8.count == count && $0 == name }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte >= 0x41 && byte <= 0x5A) || (byte >= 0x61 && byte <= 0x7A)
    }
}

extension CanonicalReader {
    /// A name of printable ASCII, 1 to 255 bytes.
    mutating func name() throws(SealError) -> String {
        let name = try string(atMost: Limits.nameBytes)
        guard Names.isPlain(name) else { throw .invalidName }
        return name
    }

    mutating func optionalName() throws(SealError) -> String? {
        try flag() ? try name() : nil
    }
}

/// A person in one container: `"_" + hex` of 16 bytes that commit to the person's first signing key.
public struct UserID: Sendable, Hashable, Comparable {
    public let id: ID16

    public init(_ id: ID16) { self.id = id }

    /// - Throws: `invalidName` unless the name is an underscore and 32 lower-case hexadecimal digits.
    @inlinable
    public init(recordName: some StringProtocol) throws(SealError) {
        try self.init(utf8: [UInt8](recordName.utf8))
    }

    @usableFromInline
    init(utf8 name: [UInt8]) throws(SealError) {
        guard name.count == 33, name[0] == 0x5F, let bytes = try? Hex.decode(utf8: name.dropFirst()),
            let id = try? ID16(bytes)
        else { throw .invalidName }
        self.id = id
    }

    public var recordName: String { "_" + id.hex }

    public static func < (left: UserID, right: UserID) -> Bool { left.id < right.id }
}

public enum Environment: UInt8, Sendable, Hashable, CaseIterable {
    case development = 1
    case production = 2

    public init?(name: some StringProtocol) {
        switch name {
        case "development": self = .development
        case "production": self = .production
        default: return nil
        }
    }

    public var name: String {
        switch self {
        case .development: "development"
        case .production: "production"
        }
    }
}
