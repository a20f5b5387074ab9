/// The protocol's limits (PROTOCOL.md, "Limits"). Decoders check them before they allocate.
public enum Limits {
    public static let nameBytes = 255
    public static let recordBytes = 1_048_576
    public static let fieldsPerRecord = 1_000
    public static let itemsPerRequest = 400
    /// Zones that one request makes and deletes, and shares that end with them: a roster's entry each.
    public static let zonesPerRequest = 100
    public static let participantsPerScope = 100
    public static let blockedPerScope = 1_000
    public static let changesPerEntry = 1_024
    public static let rosterEntryBytes = 1_048_576
    public static let identityBytes = 4_096
    public static let identityGenerations = 64
    public static let grantBytes = 4_096
    public static let sealedAddressBytes = 4_096
    public static let sealedAddressesPerInvitation = 101
    public static let previewBytes = 65_536
    /// How many records may go along with one target.
    public static let takenRecords = 750
    public static let enrolledHeads = 100_000
    /// More than any record lives through; the next one never overflows.
    public static let revision: UInt64 = (1 << 62) - 1
    public static let assetChunkBytes = 65_536
    public static let assetChunks: UInt64 = 1 << 32
    /// Of an upload in parts: chunks in every part but the last, a power of two.
    public static let assetPartChunks = 128
    public static let assetBytes: UInt64 = assetChunks * 65_536
}
