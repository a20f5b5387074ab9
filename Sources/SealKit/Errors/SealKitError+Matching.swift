/// Two errors are equal whose codes are: what they say beside it is for people.
extension SealKitError: Equatable {
    public static func == (one: SealKitError, other: SealKitError) -> Bool { one.code == other.code }
}

extension SealKitError.Code {
    /// `catch SealKitError.Code.zoneNotFound`: CloudKit's `catch CKError.zoneNotFound`.
    public static func ~= (code: SealKitError.Code, error: any Error) -> Bool { (error as? SealKitError)?.code == code }
}
