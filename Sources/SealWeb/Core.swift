import CSodium
import SealEnvelope
import SealPrimitives
import SealStatements

/// What the module holds for its host: secrets stay here, the host has handles.
struct Core {
    var last: UInt32 = 0
    var accounts = HandleTable<AccountSeed>()
    var urls = HandleTable<ShareURL>()
    var rosters = HandleTable<Roster>()
    var epochKeys = HandleTable<EpochKey>()
    var random = SystemRandom()

    /// The browser's module has one thread.
    nonisolated(unsafe) static var shared = Core()

    /// - Parameter input: the operation's canonical bytes, as its method reads them.
    mutating func perform(_ number: UInt32, _ input: [UInt8]) throws(SealError) -> [UInt8] {
        guard let operation = Operation(rawValue: number) else { throw .unsupported }
        var reader = CanonicalReader(input)
        var writer = CanonicalWriter()
        switch operation {
        case .about: writer.string(unsafe String(cString: sodium_version_string()))
        case .forget: forget(try reader.number())
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

    private mutating func forget(_ handle: UInt32) {
        accounts.remove(handle)
        urls.remove(handle)
        rosters.remove(handle)
        epochKeys.remove(handle)
    }
}

/// One call for everything: an operation's number and its canonical bytes in, canonical bytes out (`Exchange`).
@_expose(wasm, "core_call") @_cdecl("core_call")
public func call(_ operation: UInt32, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe Exchange.answer { () throws(SealError) in
        // A URL and a recovery key have secrets in them.
        var input = unsafe Exchange.input(bytes, count)
        defer { wipe(&input) }
        return try unsafe Core.shared.perform(operation, input)
    }
}
