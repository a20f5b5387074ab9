import SealPrimitives
import SealStatements

/// Hexadecimal: lower case, one spelling.
enum HexTarget: FuzzTarget {
    static let name = "hex"
    static let seeds = [Seed.made([0x30, 0x61, 0x66, 0x39]), .made([0x41, 0x46]), .made([0x30])]

    static func run(_ input: [UInt8]) {
        require(Hex.encode(input) == plainHex(input), "other hexadecimal digits")
        require((try? Hex.decode(Hex.encode(input))) == input, "bytes that do not come back")
        let text = String(decoding: input, as: UTF8.self)
        let isHex = text.utf8.count % 2 == 0 && text.utf8.allSatisfy { [UInt8]("0123456789abcdef".utf8).contains($0) }
        let decoded = try? Hex.decode(text)
        require((decoded != nil) == isHex, "hexadecimal digits taken or refused wrongly")
        if let decoded { require(Hex.encode(decoded) == text, "a second spelling") }
    }
}

/// Base64url without padding: one spelling, the last bits included.
enum Base64URLTarget: FuzzTarget {
    static let name = "base64url"
    static let seeds = ["MzMzMzMzMzMzMzMzMzMzMw", "_-8", "QQ=="].map { Seed.made([UInt8]($0.utf8)) }

    static func run(_ input: [UInt8]) {
        require((try? Base64URL.decode(Base64URL.encode(input))) == input, "bytes that do not come back")
        let text = String(decoding: input, as: UTF8.self)
        guard let decoded = try? Base64URL.decode(text) else { return }
        require(text.utf8.count == (decoded.count * 8 + 5) / 6, "base64url of another length")
        require(Base64URL.encode(decoded).utf8.elementsEqual(text.utf8), "a second spelling")
    }
}

/// Names, against the grammar of PROTOCOL.md written out.
enum NameTarget: FuzzTarget {
    static let name = "name"
    static let maximumLength = 300
    static let seeds = [
        Seed.text("identity", "userRecordName"), .text("identity", "container"), .text("records", "name"),
        .made([UInt8]("cloudkit.share".utf8)), .made([UInt8]("development".utf8)),
    ]

    static func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let bytes = [UInt8](text.utf8)
        let fits = !bytes.isEmpty && bytes.count <= 255
        let isLetter: (UInt8) -> Bool = { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }
        let isDigit: (UInt8) -> Bool = { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let isIdentifier =
            fits && isLetter(bytes[0]) && bytes.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
        require(Names.isPlain(text) == (fits && bytes.allSatisfy { 0x20...0x7E ~= $0 }), "a plain name")
        require(Names.isIdentifier(text) == isIdentifier, "an identifier")
        require(Names.isRecordType(text) == (isIdentifier || bytes == [UInt8]("cloudkit.share".utf8)), "a record type")
        require(Names.isCustomZone(text) == (Names.isPlain(text) && bytes[0] != UInt8(ascii: "_")), "a custom zone")
        let isContainer =
            fits
            && bytes.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        require(Names.isContainer(text) == isContainer, "a container")
        if let user = try? UserID(recordName: text) {
            require(user.recordName.utf8.elementsEqual(bytes), "a user record name with another spelling")
        } else {
            let digits = [UInt8]("0123456789abcdef".utf8)
            let isUser =
                bytes.count == 33 && bytes[0] == UInt8(ascii: "_") && bytes.dropFirst().allSatisfy(digits.contains)
            require(!isUser, "a user record name is refused")
        }
        if let environment = Environment(name: text) {
            require(environment.name.utf8.elementsEqual(bytes), "an environment with another spelling")
        }
    }
}
