import SealEnvelope

extension Output {
    /// A recovery key, which is printed this once.
    func show(_ recoveryKey: RecoveryKey) {
        let key = recoveryKey.text()
        result(
            """
            Your new recovery key – write it down, it is shown this once; the one before is void:

                \(key)

            """, bare: key, json: ["recoveryKey": .string(key)])
    }
}
