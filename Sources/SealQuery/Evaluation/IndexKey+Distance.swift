public import SealStatements

extension IndexKey {
    /// How far a location's key is from a place, in metres: to a few centimetres what the location itself is.
    /// - Returns: nil for a key of anything else.
    public func metres(from other: Location) -> Double? {
        guard bytes.count == 8 else { return nil }
        let cell = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let latitude = (Double(Cells.gather(cell >> 1)) + 0.5) / 0x1p32 * 180 - 90
        let longitude = (Double(Cells.gather(cell)) + 0.5) / 0x1p32 * 360 - 180
        return Distance.metres(other.latitude, other.longitude, latitude, longitude)
    }
}

extension Cells {
    /// What `spread` has spread, out of every other bit.
    fileprivate static func gather(_ cell: UInt64) -> UInt32 {
        var bits = cell & 0x5555_5555_5555_5555
        bits = (bits | bits >> 1) & 0x3333_3333_3333_3333
        bits = (bits | bits >> 2) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits >> 4) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: bits | bits >> 16)
    }
}
