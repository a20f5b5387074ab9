/// Places as numbers that are near one another where the places are: latitude and longitude in 32 bits each,
/// interleaved.
enum Cells {
    /// Nil for what is not a place on the earth.
    static func cell(_ latitude: Double, _ longitude: Double) -> UInt64? {
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        return spread(row(latitude)) << 1 | spread(column(longitude))
    }

    static func row(_ latitude: Double) -> UInt32 { UInt32(min((latitude + 90) / 180 * 0x1p32, 0x1p32 - 1)) }
    static func column(_ longitude: Double) -> UInt32 {
        UInt32(min((longitude + 180) / 360 * 0x1p32, 0x1p32 - 1))
    }

    static func spread(_ number: UInt32) -> UInt64 {
        var bits = UInt64(number)
        bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
        bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333_3333_3333
        return (bits | bits << 1) & 0x5555_5555_5555_5555
    }
}
