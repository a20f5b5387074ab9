// What `dump`, a debugger or a log shows of values that hold secrets. The core's keys are `SecretBytes`, which shows
// its name alone wherever it lies; what is here holds a secret as text, or leads to one.

extension Account: CustomReflectable {
    /// Without seeds and session.
    public var customMirror: Mirror { Mirror(self, children: ["server": server]) }
}

extension AccountKeys: CustomReflectable {
    /// Without seeds and login keys.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Account.RecoveryPassphrase: CustomReflectable {
    /// Without the name, which is half of what brings the account back.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

extension SessionKeeper: CustomReflectable {
    /// The token shows nowhere.
    nonisolated var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ContainerCore: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: ["identifier": identifier]) }
}

extension KeyFile: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["server": server, "isSealed": isSealed]) }
}

extension AccountSecrets: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["server": server], displayStyle: .struct) }
}

extension FileKeyStore: CustomReflectable {
    /// The path alone.
    public nonisolated var customMirror: Mirror { Mirror(self, children: ["file": file]) }
}

extension MemoryKeyStore: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension VerificationToken: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Share: CustomReflectable {
    /// Without title and URLs.
    public var customMirror: Mirror {
        Mirror(self, children: ["zoneID": zoneID, "participants": participants.count], displayStyle: .struct)
    }
}

extension Share.Metadata: CustomStringConvertible, CustomReflectable {
    /// Without title and URL.
    public var description: String { "Share.Metadata(\(zoneID))" }
    public var customMirror: Mirror { Mirror(self, children: ["zoneID": zoneID], displayStyle: .struct) }
}

extension Share.Preview: CustomStringConvertible, CustomReflectable {
    /// Without title, type and thumbnail.
    public var description: String { "Share.Preview(by \(authorRecordID.recordName))" }
    public var customMirror: Mirror {
        Mirror(self, children: ["author": authorRecordID.recordName], displayStyle: .struct)
    }
}

extension Record: CustomReflectable {
    /// Names only: values do not end up in logs.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["recordID": recordID, "recordType": recordType, "keys": allKeys()], displayStyle: .struct)
    }
}

extension Record.EncryptedValues: CustomStringConvertible, CustomReflectable {
    /// Names only, of what is encrypted.
    public var description: String { "EncryptedValues(keys: \(allKeys().joined(separator: " ")))" }
    public var customMirror: Mirror { Mirror(self, children: ["keys": allKeys()], displayStyle: .struct) }
}

extension TransportResponse: CustomStringConvertible, CustomReflectable {
    /// Bodies hold session tokens.
    public var description: String { "TransportResponse(\(status), \(body.count) bytes)" }
    public var customMirror: Mirror {
        Mirror(self, children: ["status": status, "bytes": body.count], displayStyle: .struct)
    }
}
