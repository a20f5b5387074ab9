/// How e-mail addresses and phone numbers are compared.
public enum AddressSpelling {
    /// Whether both reach the same person however they are spelled: e-mail addresses differ in case only, as for the
    /// server.
    public static func isSame(_ address: String, _ other: String) -> Bool { folded(address) == folded(other) }

    /// Nothing but ASCII is folded: look-alikes of other scripts must not become one address.
    private static func folded(_ address: String) -> [UInt8] {
        address.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }
}
