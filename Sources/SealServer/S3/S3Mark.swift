import NIOCore

/// Whose a place is, as the object `sealkit` in it says.
struct S3Mark: Sendable, Equatable {
    static let key = "sealkit"

    let owner: String

    init(owner: String) { self.owner = owner }

    init(_ body: ByteBuffer) {
        owner = String(decoding: body.readableBytesView.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    var body: ByteBuffer { ByteBuffer(string: owner + "\n") }
}
