import SealEnvelope
import SealPrimitives
import SealStatements
import SealWeb

/// The core's steps one by one, as the vectors have them: what a page asks for in one is made of these.
struct Pieces {
    private enum Operation: UInt32 {
        case newAccount = 16
        case recoverAccounts = 17
        case firstIdentity = 18
        case readURL = 32
        case replayRoster = 33
        case openPreview = 34
        case openGrant = 35
        case openInvitation = 36
        case accept = 37
        case openRecord = 48
    }

    var last: UInt32 = 0
    var accounts = HandleTable<AccountSeed>()
    var urls = HandleTable<ShareURL>()
    var rosters = HandleTable<Roster>()
    var epochKeys = HandleTable<EpochKey>()
    var random = SystemRandom()

    nonisolated(unsafe) static var shared = Pieces()

    mutating func perform(_ number: UInt32, _ input: [UInt8]) throws(SealError) -> [UInt8] {
        guard let operation = Operation(rawValue: number) else { throw .unsupported }
        var reader = CanonicalReader(input)
        var writer = CanonicalWriter()
        switch operation {
        case .newAccount: newAccount(&writer)
        case .recoverAccounts: try recoverAccounts(&reader, &writer)
        case .firstIdentity: try firstIdentity(&reader, &writer)
        case .readURL: try readURL(&reader, &writer)
        case .replayRoster: try replayRoster(&reader, &writer)
        case .openPreview: try openPreview(&reader, &writer)
        case .openGrant: try openGrant(&reader, &writer)
        case .openInvitation: try openInvitation(&reader, &writer)
        case .accept: try accept(&reader, &writer)
        case .openRecord: try openRecord(&reader, &writer)
        }
        try reader.finish()
        return writer.bytes
    }
}

@_expose(wasm, "vectors_call") @_cdecl("vectors_call")
public func call(_ operation: UInt32, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe Exchange.answer { () throws(SealError) in
        try unsafe Pieces.shared.perform(operation, unsafe Exchange.input(bytes, count))
    }
}
