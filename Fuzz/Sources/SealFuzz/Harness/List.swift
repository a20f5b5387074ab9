import Glibc

/// Prints the targets for `fuzz.py`, a line each, parted by tabs: name, longest input, seeds.
func list() -> Never {
    for target in targets {
        print(([target.name, String(target.maximumLength)] + target.seeds.map(\.line)).joined(separator: "\t"))
    }
    exit(0)
}

func stop(_ message: String) -> Never {
    print(message)
    exit(2)
}

extension Seed {
    fileprivate var line: String {
        switch self {
        case .hex(let file, let key, let prefix): "hex:\(file):\(key):\(plainHex(prefix))"
        case .text(let file, let key): "text:\(file):\(key)"
        case .made(let bytes): "made:\(plainHex(bytes))"
        }
    }
}

/// Not the core's: that one is under test.
func plainHex(_ bytes: [UInt8]) -> String {
    bytes.map { (($0 < 16 ? "0" : "") + String($0, radix: 16)) }.joined()
}
