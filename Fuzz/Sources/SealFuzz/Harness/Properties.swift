import SealPrimitives

/// A property does not hold. libFuzzer takes the end of the process for a crash and keeps the input.
func violated(_ what: String) -> Never { fatalError("property: \(what)") }

func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { violated(what()) }
}

/// What may not be refused.
@discardableResult
func certain<T>(_ what: String, _ body: () throws -> T) -> T {
    do { return try body() } catch { violated("\(what): \(error)") }
}

/// What has to be refused, and for that reason where one is given.
func refuses<T>(_ what: String, with reason: SealError? = nil, _ body: () throws -> T) {
    do {
        _ = try body()
    } catch {
        if let reason, error as? SealError != reason { violated("\(what): refused with \(error), not \(reason)") }
        return
    }
    violated("\(what): not refused")
}

// MARK: Sealed things

/// Hostile bytes do not open: the fuzzer has no key. Neither do a sealed thing's own bytes once one bit is another or
/// the last byte is gone.
func opensOnlyWhole<T>(hostile: [UInt8], sealed: [UInt8], _ what: String, open: ([UInt8]) throws -> T) {
    refuses("\(what): hostile bytes", with: .authenticationFailed) { try open(hostile) }
    // Which bit is given by the bytes themselves: every run of an input does the same.
    let sum = sealed.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF }
    var altered = sealed
    altered[sum / 8 % sealed.count] ^= 1 << UInt8(sum % 8)
    refuses("\(what): an altered bit", with: .authenticationFailed) { try open(altered) }
    refuses("\(what): cut short", with: .authenticationFailed) { try open(sealed.dropLast()) }
}

/// Seals under the associated data that PROTOCOL.md gives, so that whatever the fuzzer wrote comes to the decoder
/// behind.
func seal(_ plaintext: [UInt8], under key: SecretBytes, _ associatedData: PAE) -> [UInt8] {
    var random = FixedRandom()
    return AEAD.seal(plaintext, under: key, associatedData: associatedData.finish(), random: &random)
}
