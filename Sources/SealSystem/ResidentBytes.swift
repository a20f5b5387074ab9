import CHeap

/// What this process has of the machine's memory, with files that it has mapped; nil where the system does not say.
public func residentBytes() -> UInt64? {
    var bytes: UInt64 = 0
    return sealkit_resident_read(&bytes) ? bytes : nil
}
