extension Share.LookupInfo {
    /// Whether both reach the same person however they are spelled: e-mail addresses differ in case only, as for the
    /// server.
    func isSame(as other: Share.LookupInfo) -> Bool {
        guard case .emailAddress(let address) = self, case .emailAddress(let otherAddress) = other else {
            return self == other
        }
        return address.asciiLowercased == otherAddress.asciiLowercased
    }
}

extension String {
    /// Nothing but ASCII is folded: look-alikes of other scripts must not become one address.
    fileprivate var asciiLowercased: [UInt8] { utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
}
