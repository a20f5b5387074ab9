extension Unicode.Scalar {
    /// Whether it is white space in what somebody has typed: Unicode's property White_Space. By a list of its own,
    /// since `properties` takes tables along that are kilobytes of a browser's module.
    package var isWhiteSpace: Bool {
        switch value {
        case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }
}
