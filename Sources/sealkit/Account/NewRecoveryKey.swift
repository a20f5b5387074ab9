import SealEnvelope
import SealKit

/// A recovery key that takes another one's place. It is shown before the server hears of it, so that there is no moment without a
/// key that somebody has; which of the two counts is certain only when the command has ended without an error.
enum NewRecoveryKey {
    /// - Parameter body: makes the new key; `show` prints it, this once.
    static func make(
        _ output: Output,
        _ body: (_ show: (RecoveryKey) async throws(SealKitError) -> Void) async throws(SealKitError) -> Void
    ) async throws(SealKitError) {
        var isShown = false
        do {
            try await body { key in
                isShown = true
                output.show(key)
            }
        } catch {
            guard isShown else { throw error }
            let remedy =
                "keep both recovery keys, the new one and the one before, until `sealkit account recovery-key --check` has said which one counts"
            throw SealKitError(
                error.code, error.reason, remedy: error.remedy.isEmpty ? remedy : "\(error.remedy); \(remedy)",
                retryAfter: error.retryAfter)
        }
        output.note("the new recovery key counts from now on; the one before is void")
    }

    /// New keys that were made without a recovery passphrase leave none.
    static func noteNoPassphrase(_ output: Output) {
        output.note("the account has no recovery passphrase now; to set one: sealkit account recovery-passphrase --name NAME")
    }
}

extension Output {
    fileprivate func show(_ recoveryKey: RecoveryKey) {
        let key = recoveryKey.text()
        result(
            """
            Your new recovery key – write it down, it is shown this once:

                \(key)

            It counts once this command has ended without an error. Keep the one before until then.
            """, bare: key, json: ["recoveryKey": .string(key)])
    }
}
