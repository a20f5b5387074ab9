public import SealPrimitives

/// What an account signs towards a server.
public enum Challenges {
    /// Login: over the server's origin, its challenge and the client's time (microseconds since 1970), so that no other
    /// server can use the answer.
    public static func login(origin: String, challenge: [UInt8], time: Int64) -> PAE {
        var pae = PAE(.loginChallenge, pieces: 3)
        pae.add(origin)
        pae.add(challenge)
        pae.add(time)
        return pae
    }

    /// Which device it is that logs in; signed by the login key, so that no server can make a device of an account up.
    /// - Parameter added: when the device says that it came to the account, microseconds since 1970.
    public static func device(_ id: ID16, name: String, added: Int64) -> PAE {
        var pae = PAE(.device, pieces: 3)
        pae.add(id)
        pae.add(name)
        pae.add(added)
        return pae
    }

    /// Deletes the account whose login key signs it. Of the same form as a login, and never taken for one.
    public static func deletion(origin: String, challenge: [UInt8], time: Int64) -> PAE {
        var pae = PAE(.accountDeletion, pieces: 3)
        pae.add(origin)
        pae.add(challenge)
        pae.add(time)
        return pae
    }

    /// Names the login key that takes the place of the one that signs this, at one server. The new key signs a
    /// challenge beside it.
    public static func loginRotation(origin: String, newKey: VerificationKey) -> PAE {
        var pae = PAE(.loginRotation, pieces: 2)
        pae.add(origin)
        pae.add(newKey.bytes)
        return pae
    }

    /// Ties an identity to the account whose login key this is; signed by the identity's key.
    public static func loginBinding(container: String, loginKey: VerificationKey) -> PAE {
        var pae = PAE(.loginBinding, pieces: 2)
        pae.add(container)
        pae.add(loginKey.bytes)
        return pae
    }

    /// A verification code that comes back; signed by the identity that asked for it. It says for which address and
    /// which share, at which server: a server that hands somebody the number of another verification gets no proof of
    /// that one's address.
    /// - Parameters:
    ///   - verificationID: as the server gave it.
    ///   - address: exactly as the request for the code carried it.
    ///   - routingID: of the share's URL; nil where the address is to be linked to the account alone.
    ///   - code: without spaces and hyphens.
    public static func verificationCode(
        origin: String, verificationID: [UInt8], address: String, routingID: ID16?, code: String
    ) -> PAE {
        var pae = PAE(.verificationCode, pieces: 5)
        pae.add(origin)
        pae.add(verificationID)
        pae.add(address)
        pae.add(routingID?.bytes ?? [])
        pae.add(code)
        return pae
    }
}
