import SealPrimitives
import Testing

@Suite(.timeLimit(.minutes(60))) struct SealedBoxTests {
    @Test func `A box opens for whom it was sealed to, and for nobody else`() throws {
        let box = try SealedBox.seal(secret(9), to: SealedBox.publicKey(of: secret(1)))
        #expect(box.count == 32 + SealedBox.overhead)
        #expect(SecretBytes.areEqual(try SealedBox.open(box, with: secret(1)), secret(9)))
        #expect(throws: SealError.authenticationFailed) { try SealedBox.open(box, with: secret(2)) }
        #expect(throws: SealError.authenticationFailed) { try SealedBox.open(box, with: secret(1, count: 31)) }
        for altered in alterations(of: box) {
            #expect(throws: SealError.authenticationFailed) { try SealedBox.open(altered, with: secret(1)) }
        }
    }

    @Test func `A key of small order, or of another length, is sealed nothing to`() {
        for key in [[], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 31)] {
            #expect(throws: SealError.invalidKey) { try SealedBox.seal(secret(9), to: key) }
        }
    }

    private let context: [UInt8] = [1, 2, 3]

    private func sealed(_ parts: [[UInt8]]) throws -> (header: [UInt8], messages: [[UInt8]]) {
        var sealer = try StreamSealer(key: secret(3))
        let messages = parts.indices.map { index in
            sealer.seal(parts[index], isLast: index == parts.count - 1, associatedData: context)
        }
        return (sealer.header, messages)
    }

    private func open(
        _ messages: [[UInt8]], header: [UInt8], key: SecretBytes = secret(3), context: [UInt8]? = nil
    ) throws(SealError) -> [[UInt8]] {
        var opener = try StreamOpener(key: key, header: header)
        var parts: [[UInt8]] = []
        for (index, message) in messages.enumerated() {
            let isLast = index == messages.count - 1
            parts.append(try opener.open(message, isLast: isLast, associatedData: context ?? self.context))
        }
        return parts
    }

    @Test func `A stream opens whole and in order, and otherwise not`() throws {
        let parts: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 7, count: 5_000)]
        let (header, messages) = try sealed(parts)
        #expect(try open(messages, header: header) == parts)
        let wrong: [[[UInt8]]] = [
            Array(messages.dropLast()), Array(messages.dropFirst()), [messages[1], messages[0], messages[2]],
            [messages[0], messages[0], messages[2]], messages + [messages[2]],
        ]
        for order in wrong {
            #expect(throws: SealError.authenticationFailed) { try open(order, header: header) }
        }
        #expect(throws: SealError.authenticationFailed) { try open(messages, header: header, context: [1, 2]) }
        #expect(throws: SealError.authenticationFailed) { try open(messages, header: header, key: secret(4)) }
        for altered in alterations(of: messages[0]) {
            #expect(throws: SealError.authenticationFailed) {
                try open([altered, messages[1], messages[2]], header: header)
            }
        }
    }
}
