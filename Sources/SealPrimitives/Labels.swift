/// The domain-separation labels of the whole protocol, in one place (PROTOCOL.md, "Labels").
///
/// Every hash, MAC, signature and associated data is over a PAE whose first piece is one of these; no two
/// constructions share one. The prefix is the version of the only suite: there is nothing to negotiate.
public struct Label: Sendable {
    let text: StaticString
    init(_ text: StaticString) { self.text = text }

    public var bytes: [UInt8] { text.withUTF8Buffer { unsafe [UInt8]($0) } }
    public var description: String { "\(text)" }
}

extension Label {
    // Identity
    public static let signingSeed = Label("sealkit/1/identity/sign")
    public static let grantSeed = Label("sealkit/1/identity/grant")
    public static let loginSeed = Label("sealkit/1/account/login")
    public static let storageKey = Label("sealkit/1/account/storage")
    public static let userName = Label("sealkit/1/user")
    public static let identity = Label("sealkit/1/identity")
    public static let identityHash = Label("sealkit/1/identity-hash")
    public static let loginBinding = Label("sealkit/1/login-binding")
    public static let loginChallenge = Label("sealkit/1/login")
    public static let device = Label("sealkit/1/device")
    public static let accountDeletion = Label("sealkit/1/account-deletion")
    public static let loginRotation = Label("sealkit/1/login-rotation")
    public static let verificationCode = Label("sealkit/1/verification-code")
    public static let safetyNumber = Label("sealkit/1/safety-number")
    public static let serverRequest = Label("sealkit/1/server-request")

    // What a server signs
    public static let webhook = Label("sealkit/1/server/webhook")

    // Enrolling a device
    public static let enrolmentCommitment = Label("sealkit/1/enrolment/commitment")
    public static let enrolmentTranscript = Label("sealkit/1/enrolment/transcript")
    public static let enrolmentSeeds = Label("sealkit/1/enrolment/seeds")

    // Recovery and key files
    public static let recoveryID = Label("sealkit/1/recovery/id")
    public static let recoveryKey = Label("sealkit/1/recovery/key")
    public static let recoveryBundle = Label("sealkit/1/recovery/bundle")
    public static let recoveryPassphrase = Label("sealkit/1/recovery/passphrase")
    public static let recoveryPasskey = Label("sealkit/1/recovery/passkey")
    public static let passwordBox = Label("sealkit/1/password-box")
    public static let storageBox = Label("sealkit/1/storage-box")

    // Scopes, rosters, epochs, grants
    public static let scope = Label("sealkit/1/scope")
    public static let rosterEntry = Label("sealkit/1/roster-entry")
    public static let rosterHash = Label("sealkit/1/roster-hash")
    public static let keyID = Label("sealkit/1/key-id")
    public static let previousKey = Label("sealkit/1/previous-key")
    public static let grant = Label("sealkit/1/grant")
    public static let grantOuter = Label("sealkit/1/grant-outer")
    public static let grantHash = Label("sealkit/1/grant-hash")
    public static let sealedAddress = Label("sealkit/1/sealed-address")

    // Records
    public static let recordWrap = Label("sealkit/1/record-wrap")
    public static let recordKey = Label("sealkit/1/record-key")
    public static let recordContext = Label("sealkit/1/record-context")
    public static let sealedField = Label("sealkit/1/sealed-field")
    public static let field = Label("sealkit/1/field")
    public static let fields = Label("sealkit/1/fields")
    public static let statement = Label("sealkit/1/statement")
    public static let statementNode = Label("sealkit/1/statement-node")
    public static let statements = Label("sealkit/1/statements")
    public static let taken = Label("sealkit/1/taken")

    // Assets
    public static let fileKey = Label("sealkit/1/file-key")
    public static let assetChunks = Label("sealkit/1/asset-chunks")
    public static let assetLeaf = Label("sealkit/1/asset-leaf")
    public static let assetNode = Label("sealkit/1/asset-node")

    // Invitations
    public static let link = Label("sealkit/1/link")
    public static let linkID = Label("sealkit/1/link-id")
    public static let sealedLink = Label("sealkit/1/sealed-link")
    public static let invitationSign = Label("sealkit/1/invitation/sign")
    public static let invitationGrant = Label("sealkit/1/invitation/grant")
    public static let previewKey = Label("sealkit/1/preview-key")
    public static let preview = Label("sealkit/1/preview")
    public static let previewSignature = Label("sealkit/1/preview-signature")
    public static let acceptance = Label("sealkit/1/acceptance")
    public static let sealedContact = Label("sealkit/1/sealed-contact")

    /// All of them, for the tests that try every signature and ciphertext under every other label.
    public static let all: [Label] = [
        .signingSeed, .grantSeed, .loginSeed, .storageKey, .userName, .identity, .identityHash, .loginBinding,
        .loginChallenge, .device, .accountDeletion, .loginRotation, .verificationCode, .safetyNumber, .serverRequest,
        .webhook,
        .enrolmentCommitment, .enrolmentTranscript, .enrolmentSeeds,
        .recoveryID, .recoveryKey, .recoveryBundle, .recoveryPassphrase, .recoveryPasskey,
        .passwordBox, .storageBox,
        .scope, .rosterEntry, .rosterHash, .keyID, .previousKey, .grant, .grantOuter, .grantHash, .sealedAddress,
        .recordWrap, .recordKey, .recordContext, .sealedField, .field, .fields, .statement, .statementNode,
        .statements, .taken, .fileKey, .assetChunks, .assetLeaf, .assetNode, .link, .linkID, .sealedLink,
        .invitationSign,
        .invitationGrant, .previewKey, .preview, .previewSignature, .acceptance, .sealedContact,
    ]
}
