import Foundation
import SealPrimitives

extension SecretBytes {
    /// A passphrase as it is hashed: UTF-8 in Unicode's form NFC (RFC 8265, section 4.2), so that another keyboard,
    /// which composes letters otherwise, gives the same bytes.
    convenience init(passphrase: String) { self.init(copying: passphrase.precomposedStringWithCanonicalMapping.utf8) }
}
