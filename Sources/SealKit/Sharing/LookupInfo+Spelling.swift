import SealClient

extension Share.LookupInfo {
    /// Whether both reach the same person however they are spelled.
    func isSame(as other: Share.LookupInfo) -> Bool {
        guard case .emailAddress(let address) = self, case .emailAddress(let otherAddress) = other else {
            return self == other
        }
        return AddressSpelling.isSame(address, otherAddress)
    }
}
