import CSodium
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// What the module holds for its host: secrets stay here, the host has handles.
struct Core {
    var last: UInt32 = 0
    var urls = HandleTable<ShareURL>()
    var recoveryKeys = HandleTable<RecoveryKey>()
    var visitors = HandleTable<Visitor>()
    var identities = HandleTable<VisitorIdentity>()
    var openings = HandleTable<Visit>()
    var proofs = HandleTable<AddressProof>()
    var zones = HandleTable<SharedZone>()
    var edits = HandleTable<RecordEdit>()
    var assets = HandleTable<AssetReading>()
    var uploads = HandleTable<AssetWriting>()
    var enrolments = HandleTable<VisitorEnrolment>()
    #if LIBRARY
        var shares = HandleTable<ManagedShare>()
        var people = HandleTable<IdentityChain>()
        var publicZones = HandleTable<PublicZone>()
        var publicAssets = HandleTable<PublicAssetBytes>()
    #endif
    var random = SystemRandom()

    /// The browser's module has one thread.
    nonisolated(unsafe) static var shared = Core()

    /// - Parameter input: the operation's canonical bytes, as its method reads them.
    mutating func perform(_ number: UInt32, _ input: [UInt8]) throws(Refusal) -> [UInt8] {
        var reader = CanonicalReader(input)
        var writer = CanonicalWriter()
        #if LIBRARY
            if let operation = LibraryOperation(rawValue: number) {
                try perform(operation, &reader, &writer)
                do { try reader.finish() } catch { throw Refusal(error) }
                return writer.bytes
            }
        #endif
        guard let operation = Operation(rawValue: number) else { throw Refusal(SealError.unsupported) }
        switch operation {
        case .visit: try visit(&reader, &writer)
        case .metadataAnswer: try metadataAnswer(&reader, &writer)
        case .metadataGoesOn: try metadataGoesOn(&reader, &writer)
        case .preview: try preview(&reader, &writer)
        case .standing: try standing(&reader, &writer)
        case .acceptRequest: try acceptRequest(&reader, &writer)
        case .enter: try enter(&reader, &writer)
        case .comeBack: try comeBack(&reader, &writer)
        case .remember: try remember(&reader, &writer)
        case .rosterAnswer: try rosterAnswer(&reader)
        case .changesAnswer: try changesAnswer(&reader, &writer)
        case .lookupAnswer: try lookupAnswer(&reader, &writer)
        case .shareRefresh: try shareRefresh(&reader)
        case .leaveRequest: try leaveRequest(&reader, &writer)
        case .refreshForEdit: try refreshForEdit(&reader)
        case .saveRequest: try saveRequest(&reader, &writer)
        case .deleteRequest: try deleteRequest(&reader, &writer)
        case .editAnswer: try editAnswer(&reader, &writer)
        case .editCourse: try editCourse(&reader, &writer)
        case .editShown: try editShown(&reader)
        default:
            do { try performCore(operation, &reader, &writer) } catch { throw Refusal(error) }
        }
        do { try reader.finish() } catch { throw Refusal(error) }
        return writer.bytes
    }

    /// What is refused by the core alone.
    private mutating func performCore(
        _ operation: Operation, _ reader: inout CanonicalReader, _ writer: inout CanonicalWriter
    ) throws(SealError) {
        switch operation {
        case .about: writer.string(unsafe String(cString: sodium_version_string()))
        case .forget: forget(try reader.number())
        case .newRecoveryKey: newRecoveryKey(&writer)
        case .readRecoveryKey: try readRecoveryKey(&reader, &writer)
        case .mistypedGroups: try mistypedGroups(&reader, &writer)
        case .isRecoveryKey: try isRecoveryKey(&reader, &writer)
        case .stretchPassphrase: try stretchPassphrase(&reader, &writer)
        case .takePassphrase: try takePassphrase(&reader, &writer)
        case .takePasskey: try takePasskey(&reader, &writer)
        case .passkeyInput: writer.blob(RecoveryKey.passkeyInput)
        case .newVisitor: try newVisitor(&reader, &writer)
        case .recoverRequest: try recoverRequest(&reader, &writer)
        case .recoverAnswer: try recoverAnswer(&reader, &writer)
        case .device: try device(&reader, &writer)
        case .setDevice: try setDevice(&reader)
        case .challengeRequest: try challengeRequest(&reader, &writer)
        case .createRequest: try createRequest(&reader, &writer)
        case .loginRequest: try loginRequest(&reader, &writer)
        case .sessionAnswer: try sessionAnswer(&reader, &writer)
        case .bundleRequest: try bundleRequest(&reader, &writer)
        case .bundleAnswer: try bundleAnswer(&reader)
        case .identityRequest: try identityRequest(&reader, &writer)
        case .identityAnswer: try identityAnswer(&reader, &writer)
        case .newcomerRequest: try newcomerRequest(&reader, &writer)
        case .placeRequest: try placeRequest(&reader, &writer)
        case .placeAnswer: try placeAnswer(&reader, &writer)
        case .metadataRequest: try metadataRequest(&reader, &writer)
        case .codeRequest: try codeRequest(&reader, &writer)
        case .codeAnswer: try codeAnswer(&reader, &writer)
        case .proofRequest: try proofRequest(&reader, &writer)
        case .proofAnswer: try proofAnswer(&reader, &writer)
        case .failure: try failure(&reader, &writer)
        case .rosterRequest: try rosterRequest(&reader, &writer)
        case .startOver: try startOver(&reader)
        case .changesRequest: try changesRequest(&reader, &writer)
        case .records: try records(&reader, &writer)
        case .news: try news(&reader, &writer)
        case .record: try record(&reader, &writer)
        case .lookupRequest: try lookupRequest(&reader, &writer)
        case .beginAsset: try beginAsset(&reader, &writer)
        case .assetLeaves: try assetLeaves(&reader)
        case .openChunks: try openChunks(&reader, &writer)
        case .beginUpload: try beginUpload(&reader, &writer)
        case .uploadState: try uploadState(&reader)
        case .sealChunks: try sealChunks(&reader, &writer)
        case .partRoot: try partRoot(&reader, &writer)
        case .endUpload: try endUpload(&reader, &writer)
        case .newEnrolment: try newEnrolment(&writer)
        case .enrolmentOpened: try enrolmentOpened(&reader)
        case .enrolmentRequest: try enrolmentRequest(&reader, &writer)
        case .enrolmentAnswer: try enrolmentAnswer(&reader, &writer)
        case .enrolledVisitor: try enrolledVisitor(&reader, &writer)
        case .beginEdit: try beginEdit(&reader, &writer)
        case .renewEdit: try renewEdit(&reader)
        case .newRecord: try newRecord(&reader, &writer)
        case .editRefused: try editRefused(&reader, &writer)
        case .visit, .metadataAnswer, .metadataGoesOn, .preview, .standing, .acceptRequest, .enter, .comeBack,
            .remember,
            .rosterAnswer, .changesAnswer, .lookupAnswer, .shareRefresh, .leaveRequest, .refreshForEdit, .saveRequest,
            .deleteRequest, .editAnswer, .editCourse, .editShown:
            throw .unsupported
        }
    }

    /// A server's refusal → its code, its words, what it says to do, after how many milliseconds to try again.
    private func failure(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let failure = try Wire.Failure(protobuf: try reader.blob(atMost: reader.remaining))
        writer.string(failure.code)
        writer.string(failure.reason)
        writer.string(failure.remedy)
        let wait = failure.retryAfter * 1000
        writer.number(wait >= 0 && wait < 604_800_000 ? UInt32(wait) : 0)
    }

    private mutating func forget(_ handle: UInt32) {
        urls.remove(handle)
        recoveryKeys.remove(handle)
        visitors.remove(handle)
        identities.remove(handle)
        openings.remove(handle)
        proofs.remove(handle)
        zones.remove(handle)
        edits.remove(handle)
        assets.remove(handle)
        uploads.remove(handle)
        enrolments.remove(handle)
        #if LIBRARY
            shares.remove(handle)
            people.remove(handle)
            publicZones.remove(handle)
            publicAssets.remove(handle)
        #endif
    }
}

/// One call for everything: an operation's number and its canonical bytes in, canonical bytes out (`Exchange`).
@_expose(wasm, "core_call") @_cdecl("core_call")
public func call(_ operation: UInt32, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> UnsafeMutablePointer<UInt8> {
    unsafe Exchange.answer { () throws(Refusal) in
        // A URL and a recovery key have secrets in them.
        var input = unsafe Exchange.input(bytes, count)
        defer { wipe(&input) }
        return try unsafe Core.shared.perform(operation, input)
    }
}
