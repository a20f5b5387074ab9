import CSodium

/// Short public names of public keys.
public enum KeyIdentifier {
    /// PASERK `k4.pid` (paserk, "ID"): `"k4.pid."` and the base64url of BLAKE2b-264 over it and the key's `k4.public.`
    /// form.
    public static func paserk(of key: VerificationKey) -> String {
        let header = "k4.pid."
        let message = [UInt8]((header + "k4.public." + Base64URL.encode(key.bytes)).utf8)
        let hash = unsafe [UInt8].filled(count: 33) { output in
            // Fixed lengths that libsodium accepts: the return code can only be 0.
            _ = unsafe crypto_generichash(output, 33, message, UInt64(message.count), nil, 0)
        }
        return header + Base64URL.encode(hash)
    }
}
