import SealEnvelope
import SealKit

/// A recovery key that takes another one's place. It is shown, and on the disk where it goes to a file, before the
/// server hears of it: there is no moment without a key that somebody has, and which of the two counts is certain only
/// when the command has ended without an error.
enum NewRecoveryKey {
    /// - Parameter body: makes the new key; `show` prints it, this once. Where that fails, the key before stays.
    static func make(
        _ output: Output,
        _ body: (_ show: (RecoveryKey) async throws(SealKitError) -> Void) async throws(SealKitError) -> Void
    ) async throws(SealKitError) {
        var isShown = false
        do {
            try await body { key throws(SealKitError) in
                try output.show(key)
                isShown = true
            }
        } catch {
            if error.isOfOutput {
                throw error.adding(
                    remedy: "this command has changed nothing: the recovery key that counted before still does")
            }
            guard isShown else { throw error }
            throw error.adding(
                remedy:
                    "keep both recovery keys, the new one and the one before, until `sealkit account recovery-key --check` has said which one counts"
            )
        }
        output.note("the new recovery key counts from now on; the one before is void")
    }

    /// What new keys have ended.
    /// - Parameters:
    ///   - before: the ways back that there were; nil where the server could not be asked.
    ///   - hasPassphrase: whether the new keys came with a recovery passphrase: without one they leave none.
    static func noteEnded(_ before: Account.RecoveryStatus?, hasPassphrase: Bool, _ output: Output) {
        if !hasPassphrase {
            output.note(
                "the account has no recovery passphrase now; to set one: sealkit account recovery-passphrase --name NAME"
            )
        }
        if before?.passkeySaved != nil {
            output.note("a browser's passkey brings the account back no more; sign in there by the new recovery key")
        }
        output.note(
            "server-to-server keys and webhooks of the account, if it had any, have ended; make your own anew")
    }
}

extension Output {
    fileprivate func show(_ recoveryKey: RecoveryKey) throws(SealKitError) {
        let key = recoveryKey.text()
        try only(
            """
            Your new recovery key – write it down, it is shown this once:

                \(key)

            It counts once this command has ended without an error. Keep the one before until then.
            """, bare: key, json: ["recoveryKey": .string(key)])
    }
}
